"""The pages of exercises and submissions."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from functools import wraps
from typing import Any, TypeAlias, cast

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.contrib.auth.models import AnonymousUser, User
from django.core.paginator import Paginator
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils.cache import patch_cache_control, patch_vary_headers
from django.views.decorators.csrf import csrf_exempt, csrf_protect
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from grader import bodies, queries
from grader.models import Exercise, Submission
from grader.registry import find_spec
from grader.services import resubmit as resubmit_submission
from grader.services import submit as make_submission
from grader.services.errors import Refused, TooMany

from .forms import SubmitForm
from .page import SubmissionPage

View: TypeAlias = Callable[..., HttpResponseBase]
OWN_SUBMISSIONS_SHOWN = 20
SUBMISSIONS_PER_PAGE = 50


def _bounded_body(view: View) -> View:
    """Answer 413 with a page for a body that is too large, before CSRF checks would parse it."""
    protected = csrf_protect(view)

    @csrf_exempt
    @wraps(view)
    def bounded(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        if bodies.is_too_large(request):
            bodies.drain(request)
            return render(request, "413.html", status=413)
        return protected(request, *args, **kwargs)

    return bounded


def _signed_in(view: View) -> View:
    """Send visitors to sign in, whether there is such a submission or not.

    A page that polls is told 401 instead: it would show the form in place of the verdict.
    """
    to_sign_in = login_required(view)

    @wraps(view)
    def asked(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        if "fragment" in request.GET and not request.user.is_authenticated:
            return HttpResponse("Sign in again to see this.", "text/plain", status=401)
        return to_sign_in(request, *args, **kwargs)

    return asked


def _user(request: HttpRequest) -> User:
    """Return the signed-in user of a view that asks for one."""
    return cast(User, request.user)


@require_GET
def exercise_page(request: HttpRequest, slug: str) -> HttpResponse:
    exercise = get_object_or_404(queries.visible_exercises(request.user), slug=slug)
    earlier = _earlier_source(request, exercise)
    form = SubmitForm({"source": earlier}) if earlier is not None else SubmitForm()
    return _show_exercise(request, exercise, form, request.GET.get("track", ""))


@require_http_methods(["GET", "POST"])
@_bounded_body
def submit(request: HttpRequest, slug: str) -> HttpResponse:
    """Take a submission; a GET comes from a sign-in on the way, and goes to the exercise."""
    exercise = get_object_or_404(queries.visible_exercises(request.user), slug=slug)
    if request.method == "GET":
        return redirect(exercise)
    if not request.user.is_authenticated:
        return redirect(f"{reverse('account_login')}?next={exercise.get_absolute_url()}")
    form = SubmitForm(request.POST, request.FILES)
    form.full_clean()
    track = request.POST.get("track", "")
    try:
        content = form.content()
        submission = make_submission(
            _user(request), exercise, track, content, form.idempotency_key(content)
        )
    except Refused as refusal:
        form.refuse(refusal)
        response = _show_exercise(request, exercise, form, track)
        response.status_code = refusal.status
        if isinstance(refusal, TooMany):
            response["Retry-After"] = str(refusal.retry_after_seconds)
        return response
    return _see_other(submission.get_absolute_url())


@require_GET
@_signed_in
def submission_page(request: HttpRequest, public_id: str) -> HttpResponse:
    """The page of one submission; with `?fragment=1` only what changes, with an ETag."""
    view = SubmissionPage.of(_visible_submission(request, public_id))
    if "fragment" not in request.GET:
        response = render(
            request,
            "grader/submission.html",
            {"view": view, "course": view.exercise.chapter and view.exercise.chapter.course},
        )
        patch_cache_control(response, private=True, no_store=True)
        return response
    if view.is_known(request.headers.get("If-None-Match", "")):
        response = HttpResponse(status=304)
    else:
        response = render(request, "grader/_verdict.html", {"view": view})
    response["ETag"] = view.etag
    patch_cache_control(response, private=True, no_cache=True)
    patch_vary_headers(response, ["Cookie"])
    return response


@require_GET
@_signed_in
def source(request: HttpRequest, public_id: str) -> HttpResponse:
    submission = _visible_submission(request, public_id)
    response = HttpResponse(submission.source, content_type="text/plain; charset=utf-8")
    name = f"{submission.exercise.slug}_{submission.track}_{submission.public_id}.py"
    response["Content-Disposition"] = f'attachment; filename="{name}"'
    patch_cache_control(response, private=True)
    return response


@require_POST
@login_required
def resubmit(request: HttpRequest, public_id: str) -> HttpResponse:
    submission = _visible_submission(request, public_id)
    try:
        resubmit_submission(_user(request), submission)
    except Refused as refusal:
        messages.error(request, refusal.message)
    return _see_other(submission.get_absolute_url())


@require_GET
@login_required
def submissions(request: HttpRequest) -> HttpResponse:
    pages = Paginator(queries.own_submissions(request.user), SUBMISSIONS_PER_PAGE)
    page = pages.get_page(request.GET.get("page"))
    return render(
        request, "grader/submission_list.html", {"submissions": page.object_list, "page_obj": page}
    )


def _show_exercise(
    request: HttpRequest, exercise: Exercise, form: SubmitForm, track: str
) -> HttpResponse:
    spec = find_spec(exercise.slug)
    tracks = [str(name) for name in spec.tracks] if spec else []
    if track not in tracks:
        track = tracks[0] if tracks else ""
    own = queries.own_submissions(request.user).filter(exercise=exercise)
    stylesheet = exercise.stylesheet
    context = {
        "exercise": exercise,
        "course": exercise.chapter.course if exercise.chapter else None,
        "spec": spec,
        "statement_html": exercise.statement_html,
        "stylesheet_url": reverse("courses:math_css", args=[stylesheet.hash]) if stylesheet else "",
        "track": track,
        "track_available": track in queries.tracks_available(),
        "starter": spec.starter(track) if spec and track else "",
        "form": form,
        "idempotency_key": uuid.uuid4().hex,
        "submissions": own[:OWN_SUBMISSIONS_SHOWN],
    }
    response = render(request, "grader/exercise.html", context)
    patch_cache_control(response, private=True, no_cache=True)
    return response


def _earlier_source(request: HttpRequest, exercise: Exercise) -> str | None:
    """Return the source that "edit and submit again" starts from."""
    public_id = request.GET.get("from", "")
    if not public_id:
        return None
    visible = queries.visible_submissions(request.user).filter(exercise=exercise)
    found: Submission | None = visible.filter(public_id=public_id).first()
    return found.source if found else None


def _visible_submission(request: HttpRequest, public_id: str) -> Submission:
    """Return a submission that the user may see; otherwise 404, which does not tell of it."""
    submission = (
        Submission.objects.select_related("exercise__chapter__course", "user")
        .filter(public_id=public_id)
        .first()
    )
    user: User | AnonymousUser = request.user
    if submission is None or not user.is_authenticated:
        raise Http404("There is no such submission, or it is not yours.")
    if submission.user_id != user.pk and not queries.sees_all_submissions(user):
        raise Http404("There is no such submission, or it is not yours.")
    return submission


def _see_other(url: str) -> HttpResponse:
    response = redirect(url)
    response.status_code = 303
    return response
