from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from gpu_worker.messages.signing import VARIABLE, WorkerKey
from grader.models import RefusedMessage, Worker
from grader.services import register_worker, renew_worker, revoke_worker
from grader.services.errors import Refused


class Command(BaseCommand):
    """Register the workers whose verdicts the site believes."""

    help = (
        "Give workers their keys. A worker signs what it says with its key; what is not signed "
        "with the key of a registered worker changes nothing."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        actions = parser.add_subparsers(dest="action", required=True, metavar="ACTION")
        add = actions.add_parser("add", help="register a worker and print its key, once")
        renew = actions.add_parser("renew", help="give a worker another key and print it, once")
        revoke = actions.add_parser("revoke", help="believe a worker no longer")
        for action in (add, renew, revoke):
            action.add_argument("name", metavar="NAME", help="letters, digits, - and _")
        actions.add_parser("list", help="show the workers, and what was refused in their names")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            match options["action"]:
                case "add":
                    self._show(register_worker(options["name"]))
                case "renew":
                    self._show(renew_worker(options["name"]))
                case "revoke":
                    revoke_worker(options["name"])
                    self.stderr.write(f"Nothing that {options['name']} says is taken any more.")
                case _:
                    self._list()
        except Refused as refusal:
            raise CommandError(refusal.message) from refusal

    def _show(self, key: WorkerKey) -> None:
        # The key alone on standard output, so that it can be put into a file.
        self.stderr.write(f"Start the worker {key.name} with this; it is not shown again:")
        self.stdout.write(f"{VARIABLE}={key}")

    def _list(self) -> None:
        for worker in Worker.objects.all():
            revoked = f", revoked {worker.revoked_at:%Y-%m-%d}" if worker.revoked_at else ""
            self.stdout.write(f"{worker.name}: since {worker.created_at:%Y-%m-%d}{revoked}")
        for refused in RefusedMessage.objects.all():
            who = refused.worker_name or "nobody that is registered"
            self.stdout.write(
                f"Refused {refused.count} in the name of {who}, which "
                f"{refused.get_reason_display()}; last {refused.last_at:%Y-%m-%d %H:%M}."
            )
