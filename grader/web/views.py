"""The pages of submissions."""

from __future__ import annotations

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.paginator import Paginator
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.cache import patch_cache_control, patch_vary_headers
from django.views.decorators.http import require_GET, require_POST

from courses.pages.etag import failed_condition
from grader import access, queries
from grader.models import Submission
from grader.presentation.page import SubmissionPage
from grader.services import resubmit as resubmit_submission
from grader.services.errors import Refused

from .requests import see_other, signed_in, user_of

SUBMISSIONS_PER_PAGE = 50


@require_GET
@signed_in
def submission_page(request: HttpRequest, public_id: str) -> HttpResponse:
    """The page of one submission; with `?fragment=1` only its changing part, with an ETag."""
    view = SubmissionPage.of(_visible_submission(request, public_id))
    if "fragment" not in request.GET:
        response = render(
            request,
            "grader/submission.html",
            {"view": view, "course": view.exercise.chapter and view.exercise.chapter.course},
        )
        patch_cache_control(response, private=True, no_store=True)
        return response
    status = failed_condition(request, view.etag)
    if status is not None:
        response = HttpResponse(status=status)
    else:
        response = render(request, "grader/_verdict.html", {"view": view})
    response["ETag"] = view.etag
    patch_cache_control(response, private=True, no_cache=True)
    patch_vary_headers(response, ["Cookie"])
    return response


@require_GET
@signed_in
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
        resubmit_submission(user_of(request), submission)
    except Refused as refusal:
        messages.error(request, refusal.message)
    return see_other(submission.get_absolute_url())


@require_GET
@login_required
def submissions(request: HttpRequest) -> HttpResponse:
    pages = Paginator(queries.own_submissions(request.user), SUBMISSIONS_PER_PAGE)
    page = pages.get_page(request.GET.get("page"))
    return render(
        request, "grader/submission_list.html", {"submissions": page.object_list, "page_obj": page}
    )


def _visible_submission(request: HttpRequest, public_id: str) -> Submission:
    """Return a submission that the user may see; 404 otherwise, as for unknown ids."""
    submission = access.find_submission(request.user, public_id)
    if submission is None:
        raise Http404("There is no such submission, or it is not yours.")
    return submission
