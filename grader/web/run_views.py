"""Runs: start one and see its result; and the page for running a chapter's listing."""

from __future__ import annotations

from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import get_object_or_404, render
from django.urls import reverse
from django.utils.cache import patch_cache_control
from django.utils.text import slugify
from django.views.decorators.http import require_GET, require_http_methods

from courses.pages.old_addresses import follows_old_addresses
from courses.pages.queries import chapter_page
from gpu_worker.exercises.spec import CODE_LIMITS
from grader import queries
from grader.models import CodeRun, Exercise
from grader.presentation.run_result import RunResult
from grader.services import end_late_runs, start_run
from grader.services.errors import Refused, TooMany

from . import csp
from .exercise_views import refuse
from .forms import SubmitForm
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


@require_http_methods(["GET", "POST"])
@bounded_body
def run_public_cases(request: HttpRequest, slug: str) -> HttpResponseBase:
    """Run the public cases on the editor's text."""
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
    """The page for editing and running a chapter's listing; with `?fragment=1` only its form.

    Nothing runs until its button is pressed.
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
    """The result of a run; with `?fragment=1` without the page around it."""
    own = CodeRun.objects.select_related("exercise__chapter__course").filter(
        user=user_of(request), public_id=public_id
    )
    run = own.first()
    if run is None:
        raise Http404("There is no such run, it is not yours, or it was deleted after a day.")
    if not run.is_final and end_late_runs(user=user_of(request)):
        run = own.get()
    view = RunResult(run)
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
    """Start a run of the posted source: its fragment for a script, otherwise 303 to its page."""
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
    # The queue may have been down: then the run has ended already.
    run.refresh_from_db()
    return render(request, "grader/_run.html", {"view": RunResult(run)}, status=201)


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
