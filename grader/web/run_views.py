"""Runs: start one, see what came of it; and the page on which a chapter's listing is tried."""

from __future__ import annotations

from typing import Any

from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import get_object_or_404, render
from django.urls import reverse
from django.utils.cache import patch_cache_control
from django.utils.functional import cached_property
from django.utils.text import slugify
from django.views.decorators.http import require_GET, require_http_methods

from courses.old_addresses import follows_old_addresses
from courses.queries import chapter_page
from gpu_worker.exercises.spec import CODE_LIMITS
from grader import queries
from grader.models import CodeRun, Exercise, RunOutcome
from grader.services import end_late_runs, start_run
from grader.services.errors import Refused, TooMany

from . import csp
from .exercise_views import refuse
from .forms import SubmitForm
from .repairs import Repair, repair_of
from .requests import (
    another_account_text,
    bounded_body,
    is_fetch,
    is_of_another_account,
    not_stored,
    of_another_account,
    page_mark,
    see_other,
    signed_in,
    signed_out,
    user_of,
)


class RunView:
    """One run as its fragment shows it."""

    def __init__(self, run: CodeRun) -> None:
        self.run = run

    @property
    def is_final(self) -> bool:
        return self.run.is_final

    @property
    def report(self) -> dict[str, Any]:
        return self.run.report if isinstance(self.run.report, dict) else {}

    @property
    def is_good(self) -> bool:
        return self.run.outcome == RunOutcome.COMPLETED

    @cached_property
    def label(self) -> str:
        """The result in a few words."""
        if not self.is_final:
            return "Waiting for a worker" if self.run.state == "queued" else "Running"
        cases = self.report.get("cases", [])
        if cases and self.run.outcome != RunOutcome.NOT_RUN:
            passed = sum(case["passed"] is True for case in cases)
            return f"{passed} of {len(cases)} public cases passed"
        return str(self.run.get_outcome_display())

    @property
    def line(self) -> int | None:
        """The line of the learner's source that stopped the run, if one did."""
        failures = [self.report.get("failure")]
        failures += [case.get("failure") for case in self.report.get("cases", [])]
        return next((failure["line"] for failure in failures if failure and failure["line"]), None)

    @property
    def line_text(self) -> str:
        lines = self.run.source.split("\n")
        return lines[self.line - 1].strip(" \t\r") if self.line and self.line <= len(lines) else ""

    @property
    def milliseconds(self) -> float | None:
        timings = self.report.get("timings", [])
        return timings[0]["ms"] if timings else None

    @property
    def repair(self) -> Repair | None:
        """The program alone, where what was pasted around it kept it from running."""
        return repair_of(self.run.source, self.report)

    @property
    def poll_url(self) -> str:
        return f"{self.run.get_absolute_url()}?fragment=1"


@require_http_methods(["GET", "POST"])
@bounded_body
def run_public_cases(request: HttpRequest, slug: str) -> HttpResponseBase:
    """Run the public cases on what stands in the exercise's editor."""
    exercise = get_object_or_404(queries.visible_exercises(request.user), slug=slug)
    if request.method == "GET":
        return see_other(exercise.get_absolute_url())
    return _start(request, exercise, exercise.get_absolute_url())


@require_http_methods(["GET", "POST"])
@follows_old_addresses
@bounded_body
def run_listing(
    request: HttpRequest, course_slug: str, chapter_slug: str, filename: str
) -> HttpResponseBase:
    """The page on which a chapter's listing is edited and run; with `?fragment=1` its form alone.

    Only a press of its button runs anything.
    """
    code = _listing_code(course_slug, chapter_slug, filename)
    if code is None:
        raise Http404("The chapter has no such listing.")
    here = reverse("grader:run_listing", args=[course_slug, chapter_slug, filename])
    if request.method == "POST":
        return _start(request, None, here)
    fragment = "fragment" in request.GET
    nonce = "" if fragment else csp.new_nonce()
    context = {
        "field_id": f"source-{slugify(filename)}" if fragment else "source",
        "filename": filename,
        "code": code,
        "run_url": here,
        "chapter_url": reverse("courses:chapter", args=[course_slug, chapter_slug]),
        "limits": CODE_LIMITS,
        "made_for": page_mark(request),
        "nonce": nonce,
    }
    template = "grader/_run_form.html" if fragment else "grader/run_listing.html"
    response = render(request, template, context)
    patch_cache_control(response, private=True, no_cache=True)
    if not fragment:
        csp.allow_style(response, nonce)
    return response


@require_GET
@signed_in
def run_page(request: HttpRequest, public_id: str) -> HttpResponse:
    """What came of a run; with `?fragment=1` without the page around it."""
    own = CodeRun.objects.select_related("exercise__chapter__course").filter(
        user=user_of(request), public_id=public_id
    )
    run = own.first()
    if run is None:
        raise Http404("There is no such run, it is not yours, or it was deleted after a day.")
    if not run.is_final and end_late_runs(user=user_of(request)):
        run = own.get()
    view = RunView(run)
    template = "grader/_run.html" if "fragment" in request.GET else "grader/run.html"
    response = render(request, template, {"view": view})
    patch_cache_control(response, private=True, no_store=True)
    return response


def _listing_code(course_slug: str, chapter_slug: str, filename: str) -> str | None:
    found = chapter_page(course_slug, chapter_slug, None)
    for listing in found.revision.page["listings"] if found else ():
        if listing["filename"] == filename:
            return str(listing["code"])
    return None


def _start(request: HttpRequest, exercise: Exercise | None, here: str) -> HttpResponseBase:
    """Start a run of what was posted: its fragment for a script, 303 to its page without one."""
    if not request.user.is_authenticated:
        if is_fetch(request):
            return render(request, "grader/_run_refused.html", {"sign_in": here}, status=401)
        return signed_out(request, here, "Run")
    if is_of_another_account(request):
        if is_fetch(request):
            context = {"message": another_account_text(request)}
            return render(request, "grader/_run_refused.html", context, status=403)
        return of_another_account(request, "Run")
    source = request.POST.get("source", "").replace("\r\n", "\n")
    track = request.POST.get("track", "numpy")
    try:
        run = start_run(user_of(request), source, exercise, track)
    except Refused as refusal:
        return _refused(request, exercise, refusal)
    if not is_fetch(request):
        return see_other(run.get_absolute_url())
    # The queue may have been away: then the run has ended already.
    run.refresh_from_db()
    return render(request, "grader/_run.html", {"view": RunView(run)}, status=201)


def _refused(request: HttpRequest, exercise: Exercise | None, refusal: Refused) -> HttpResponse:
    if not is_fetch(request) and exercise is not None:
        form = SubmitForm(request.POST)
        form.full_clean()
        return refuse(request, exercise, form, request.POST.get("track", ""), refusal)
    if is_fetch(request):
        context = {"message": refusal.message}
        response = render(request, "grader/_run_refused.html", context, status=refusal.status)
    else:
        title = "Your code was not run"
        response = not_stored(request, refusal.status, title, refusal.message, send="Run it again")
    if isinstance(refusal, TooMany):
        response["Retry-After"] = str(refusal.retry_after_seconds)
    return response
