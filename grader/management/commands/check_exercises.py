from __future__ import annotations

from argparse import ArgumentParser
from collections import Counter
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from gpu_worker.checking import (
    Fate,
    HeaderError,
    SandboxError,
    Zygote,
    check_mutants,
    check_stored,
    kernels_missing,
)
from gpu_worker.exercises import Exercise, UnknownExerciseError, get, slugs


class Command(BaseCommand):
    """Fail where an exercise's cases cannot tell wrong from right."""

    help = (
        "Grade each exercise's stored submissions to each of its tracks, and mutants of the "
        "correct ones: small changes that make them wrong. Fails if one is not graded as it should "
        "be."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("slug", nargs="*", help="exercises; default: all")
        parser.add_argument("--seeds", type=int, default=1, help="gradings of each submission")
        parser.add_argument(
            "--mutants",
            type=int,
            default=12,
            metavar="N",
            help="mutants of each correct solution (default 12); 0 for none, -1 for all",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        failed = False
        try:
            with Zygote() as zygote:
                for slug in options["slug"] or slugs():
                    exercise = get(slug)
                    failed |= self._stored(exercise, zygote, options["seeds"])
                    if options["mutants"]:
                        failed |= self._mutants(exercise, zygote, options["mutants"])
        except (UnknownExerciseError, HeaderError, SandboxError) as error:
            raise CommandError(str(error)) from error
        if failed:
            raise CommandError(
                "The cases cannot tell wrong from right everywhere; see the lines above."
            )

    def _stored(self, exercise: Exercise, zygote: Zygote, seeds: int) -> bool:
        counts: dict[str, Counter[str]] = {track: Counter() for track in exercise.tracks}
        complaints = {track: list[str]() for track in exercise.tracks}
        for item, complaint in check_stored(exercise, zygote, seeds=seeds):
            counts[item.track][item.kind] += 1
            if complaint:
                complaints[item.track].append(complaint)
        for track, found in complaints.items():
            self.stdout.write(
                f"{exercise.slug}, {track}: {counts[track]['correct']} correct and "
                f"{counts[track]['wrong']} wrong submissions, {len(found)} not graded as they "
                "should be"
            )
            for complaint in found:
                self.stdout.write(f"  {complaint}")
        if "cupy" in exercise.tracks and (why := kernels_missing()):
            self.stdout.write(f"  Submissions with kernels were left out. {why}")
        return any(complaints.values())

    def _mutants(self, exercise: Exercise, zygote: Zygote, count: int) -> bool:
        rows: dict[str, Counter[Fate]] = {}
        noted = []
        for result in check_mutants(exercise, zygote, per_solution=None if count < 0 else count):
            rows.setdefault(result.submission, Counter())[result.fate] += 1
            if result.fate is not Fate.KILLED:
                noted.append(
                    f"  {result.fate}: {result.submission} line {result.mutant.line}: "
                    f"{result.mutant.change}"
                )
        self.stdout.write(f"  {'mutants of':34}" + "".join(f"{fate:>12}" for fate in Fate))
        total: Counter[Fate] = Counter()
        for name, counts in rows.items():
            total += counts
            self.stdout.write(f"  {name:34}" + "".join(f"{counts[fate]:12}" for fate in Fate))
        self.stdout.write(f"  {'all':34}" + "".join(f"{total[fate]:12}" for fate in Fate))
        for line in noted:
            self.stdout.write(line)
        return bool(total[Fate.SURVIVED])
