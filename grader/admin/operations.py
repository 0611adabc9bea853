from __future__ import annotations

from django.contrib import admin
from django.http import HttpRequest
from django.utils.safestring import SafeString

from courses.admin.searching import FoldedSearchMixin
from grader import queries
from grader.models import ApiToken, RefusedMessage, Worker, WorkerNode
from grader.services import revoke_token, revoke_worker
from grader.templatetags.report import limit_text

from .gpus import shown_gpus
from .readonly import ExactCountOff, ReadOnlyMixin


@admin.register(WorkerNode)
class WorkerNodeAdmin(ReadOnlyMixin, ExactCountOff):
    list_display = (
        *("name", "alive", "queue", "isolation", "machine", "gpu_states", "grades", "last_seen_at"),
    )
    exclude = ("limits", "devices", "gpus", "tracks")
    readonly_fields = ("machine", "grades", "limits_of_runs", "gpu_details")
    list_filter = ("queue", "isolation")
    search_fields = ("name", "platform")

    @admin.display(boolean=True, description="connected")
    def alive(self, node: WorkerNode) -> bool:
        return queries.is_alive(node)

    @admin.display(description="runs on")
    def machine(self, node: WorkerNode) -> str:
        return ", ".join(node.devices) or "not known"

    @admin.display(description="tracks")
    def grades(self, node: WorkerNode) -> str:
        return ", ".join(node.tracks) or "none"

    @admin.display(description="limits of every run")
    def limits_of_runs(self, node: WorkerNode) -> str:
        return "; ".join(map(limit_text, node.limits.items())) or "not reported"

    @admin.display(description="GPUs")
    def gpu_states(self, node: WorkerNode) -> str:
        return "; ".join(f"{gpu['name']}: {gpu['state']}" for gpu in node.gpus) or "none"

    @admin.display(description="GPUs")
    def gpu_details(self, node: WorkerNode) -> SafeString:
        return shown_gpus(node)


@admin.register(Worker)
class WorkerAdmin(ReadOnlyMixin, ExactCountOff):
    """Workers that may report verdicts. `manage.py worker add` makes their keys, and alone shows
    them.
    """

    list_display = ("name", "created_at", "revoked_at", "reports_of", "refused")
    fields = ("name", "created_at", "revoked_at", "reports_of", "refused")
    readonly_fields = ("reports_of", "refused")
    search_fields = ("name",)
    actions = ("revoke",)

    @admin.display(description="nodes")
    def reports_of(self, worker: Worker) -> str:
        return ", ".join(worker.nodes.values_list("name", flat=True)[:10]) or "none yet"

    @admin.display(description="messages refused")
    def refused(self, worker: Worker) -> int:
        counts = RefusedMessage.objects.filter(worker_name=worker.name)
        return sum(counts.values_list("count", flat=True))

    @admin.action(description="Revoke the keys of the selected workers")
    def revoke(self, request: HttpRequest, workers: list[Worker]) -> None:
        if not request.user.has_perm("grader.change_worker"):
            self.message_user(request, "You may not revoke workers.", "error")
            return
        for worker in workers:
            revoke_worker(worker.name)
        self.message_user(request, "Revoked. Nothing that these workers say is taken any more.")


@admin.register(RefusedMessage)
class RefusedMessageAdmin(ReadOnlyMixin, ExactCountOff):
    """Messages that were refused. More than a few deserve a look."""

    list_display = ("worker", "why", "count", "first_at", "last_at", "last_task")
    list_filter = ("reason",)
    fields = list_display

    @admin.display(description="in the name of")
    def worker(self, refused: RefusedMessage) -> str:
        return refused.worker_name or "nobody that is registered"

    @admin.display(description="the message")
    def why(self, refused: RefusedMessage) -> str:
        return refused.get_reason_display()


@admin.register(ApiToken)
class ApiTokenAdmin(FoldedSearchMixin, ReadOnlyMixin, ExactCountOff):
    """Tokens without their secrets: not even the digest is shown."""

    list_display = (
        "name",
        "hint",
        "user",
        "scopes",
        "created_at",
        "expires_at",
        "last_used_at",
        "revoked_at",
    )
    list_filter = ("created_at", "revoked_at")
    list_select_related = ("user",)
    search_fields = ("name", "hint", "user__username", "user__account_name__folded")
    fields = (
        "public_id",
        "user",
        "name",
        "hint",
        "scopes",
        "created_at",
        "expires_at",
        "last_used_at",
        "revoked_at",
    )
    actions = ("revoke",)

    @admin.action(description="Revoke the selected tokens")
    def revoke(self, request: HttpRequest, tokens: list[ApiToken]) -> None:
        if not request.user.has_perm("grader.change_apitoken"):
            self.message_user(request, "You may not revoke other people's tokens.", "error")
            return
        for token in tokens:
            revoke_token(request.user, token)  # type: ignore[arg-type]
        self.message_user(request, "Revoked. Calls with these tokens are refused from now on.")
