"""The exercise's page and the actions of its form: submit, keep a draft, compare, download."""

from __future__ import annotations

import re
import uuid
from typing import Any

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase, JsonResponse
from django.shortcuts import get_object_or_404, render
from django.utils import timezone
from django.utils.cache import patch_cache_control
from django.utils.http import urlencode
from django.utils.safestring import mark_safe
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from courses.subpath import below_site
from grader import access, queries, waiting
from grader.deadlines import deadline_for, is_past
from grader.models import Draft, Exercise, NodeKind, Submission, Track
from grader.presentation.page import WHAT_COUNTS
from grader.presentation.repairs import hidden_text, offer_of, repair_of
from grader.presentation.result_view import ON_A_GPU
from grader.registry import find_spec
from grader.services import keep_draft
from grader.services import submit as make_submission
from grader.services.drafts import UNSEEN, Kept
from grader.services.errors import Refused, TooMany

from . import csp
from .diff import unified
from .forms import SubmitForm
from .requests import (
    bounded_body,
    is_fetch,
    is_of_another_account,
    of_another_account,
    page_mark,
    see_other,
    signed_in,
    signed_out,
    user_of,
)

OWN_SUBMISSIONS_SHOWN = 20


@require_GET
def exercise_page(request: HttpRequest, slug: str) -> HttpResponse:
    exercise = get_object_or_404(queries.visible_exercises(request.user), slug=slug)
    return show_exercise(request, exercise, SubmitForm(), request.GET.get("track", ""))


@require_http_methods(["GET", "POST"])
@bounded_body
def submit(request: HttpRequest, slug: str) -> HttpResponse:
    """Accept a submission: 303 to it, for a script 201 with its address and the draft's version.

    A GET comes from signing in on the way, and redirects to the exercise.
    """
    exercise = get_object_or_404(queries.visible_exercises(request.user), slug=slug)
    if request.method == "GET":
        return see_other(exercise.get_absolute_url())
    track = request.POST.get("track", "")
    if not request.user.is_authenticated:
        return signed_out(request, _place(exercise, track), "Submit")
    if is_of_another_account(request):
        return of_another_account(request, "Submit")
    form = SubmitForm(request.POST, request.FILES)
    form.full_clean()
    try:
        content = form.content()
        submission = make_submission(
            user_of(request), exercise, track, content, form.idempotency_key(content)
        )
    except Refused as refusal:
        return refuse(request, exercise, form, track, refusal)
    answer: dict[str, Any] = {"url": submission.get_absolute_url()}
    if isinstance(content, str):
        # The editor starts with this text the next time.
        kept = keep_draft(user_of(request), exercise, track, content, _seen(request), replace=True)
        answer |= _as_answer(kept)
    return JsonResponse(answer, status=201) if is_fetch(request) else see_other(answer["url"])


def refuse(
    request: HttpRequest, exercise: Exercise, form: SubmitForm, track: str, refusal: Refused
) -> HttpResponse:
    """Show the page again with the learner's text and the reason at its field.

    A script still has the text, and gets only the reason.
    """
    response: HttpResponse
    if is_fetch(request):
        # A text too large for a source may contain one.
        repair = offer_of(request.POST.get("source", ""))
        response = JsonResponse({"message": refusal.message, "repair": repair})
    else:
        form.refuse(refusal)
        response = show_exercise(request, exercise, form, track)
    response.status_code = refusal.status
    if isinstance(refusal, TooMany):
        response["Retry-After"] = str(refusal.retry_after_seconds)
    return response


@require_http_methods(["GET", "POST"])
@bounded_body
def draft(request: HttpRequest, slug: str) -> HttpResponseBase:
    """Store a draft: JSON for the editor, 200 stored or 409 another tab's; 303 without a script."""
    exercise = get_object_or_404(queries.visible_exercises(request.user), slug=slug)
    track = request.POST.get("track", "")
    if request.method == "GET":
        return see_other(exercise.get_absolute_url())
    if not request.user.is_authenticated:
        return signed_out(request, _place(exercise, track), "Save the draft")
    if is_of_another_account(request):
        return of_another_account(request, "Save the draft")
    try:
        kept = keep_draft(
            user_of(request),
            exercise,
            track,
            request.POST.get("source", "").replace("\r\n", "\n"),
            _seen(request),
            replace="replace" in request.POST,
        )
    except Refused as refusal:
        form = SubmitForm(request.POST)
        form.full_clean()
        return refuse(request, exercise, form, track, refusal)
    if not is_fetch(request):
        messages.success(request, "Your draft is saved.")
        return see_other(_place(exercise, track))
    answer = _as_answer(kept)
    if kept.conflict:
        answer["source"] = kept.draft.source
    else:
        answer["repair"] = offer_of(kept.draft.source)
    return JsonResponse(answer, status=409 if kept.conflict else 200)


def _place(exercise: Exercise, track: str) -> str:
    """Return the address of a track's editor."""
    return f"{exercise.get_absolute_url()}?{urlencode({'track': track})}#your-code"


def _as_answer(kept: Kept) -> dict[str, Any]:
    """Return a stored draft's version and time, for a script."""
    return {"version": kept.draft.version, "saved_at": kept.draft.updated_at.isoformat()}


@require_GET
def check_script(request: HttpRequest, slug: str) -> HttpResponse:
    """The script that runs the public cases at home."""
    from gpu_worker.home import home_script  # brings NumPy, which other pages do without

    exercise = get_object_or_404(queries.visible_exercises(request.user), slug=slug)
    try:
        script = home_script(exercise.slug, Track.NUMPY.value)
    except LookupError as error:
        raise Http404("There is no script for this exercise.") from error
    name = f"check_{exercise.slug}.py"
    return HttpResponse(
        script,
        content_type="text/x-python; charset=utf-8",
        headers={"Content-Disposition": f'attachment; filename="{name}"'},
    )


@require_POST
@bounded_body
def download(request: HttpRequest, slug: str) -> HttpResponse:
    """The editor's text as a file, for browsers without scripts."""
    exercise = get_object_or_404(queries.visible_exercises(request.user), slug=slug)
    text = request.POST.get("source", "").replace("\r\n", "\n")
    name = f"{exercise.slug}_{'cupy' if request.POST.get('track') == 'cupy' else 'numpy'}.py"
    return HttpResponse(
        text,
        content_type="text/x-python; charset=utf-8",
        headers={"Content-Disposition": f'attachment; filename="{name}"'},
    )


@require_GET
@signed_in
def compare(request: HttpRequest, slug: str) -> HttpResponse:
    """The changes between two submissions of one exercise; with `?fragment=1` only these."""
    exercise = get_object_or_404(queries.visible_exercises(request.user), slug=slug)
    old, new = (
        get_object_or_404(
            access.visible_submissions(request.user),
            exercise=exercise,
            public_id=request.GET.get(which, ""),
        )
        for which in ("old", "new")
    )
    if old.created_at > new.created_at:
        old, new = new, old
    context = {
        "exercise": exercise,
        "course": exercise.chapter and exercise.chapter.course,
        "old": old,
        "new": new,
        "diff": unified(old.source, new.source),
        "both": (("The old", old), ("The new", new)),
    }
    template = "grader/_diff.html" if "fragment" in request.GET else "grader/compare.html"
    response = render(request, template, context)
    patch_cache_control(response, private=True, no_store=True)
    return response


def show_exercise(
    request: HttpRequest, exercise: Exercise, form: SubmitForm, track: str
) -> HttpResponse:
    spec = find_spec(exercise.slug)
    tracks = [str(name) for name in spec.tracks] if spec else []
    if track not in tracks:
        track = tracks[0] if tracks else ""
    own = queries.own_submissions(request.user).filter(exercise=exercise)
    stylesheet = exercise.stylesheet
    starter = spec.starter(track) if spec and track else ""
    kept = queries.draft_of(request.user, exercise, track)
    earlier = None if form.is_bound else _earlier(request, exercise)
    is_repaired = earlier is not None and "repaired" in request.GET
    repair = repair_of(earlier.source, earlier.report or {}) if earlier and is_repaired else None
    text = repair.text if repair else _text(request, form, earlier, kept, starter)
    nonce = csp.new_nonce()
    deadline = deadline_for(exercise, request.user)
    now = timezone.now()
    context = {
        "exercise": exercise,
        "course": exercise.chapter.course if exercise.chapter else None,
        "spec": spec,
        "limits": spec.limits_for(track) if spec else {},
        "statement_html": below_site(exercise.statement_html),
        # Written by the renderer, from properties and values that it has checked.
        "formulas_styles": mark_safe(stylesheet.css if stylesheet else ""),  # noqa: S308
        "track": track,
        "track_available": track in waiting.tracks_available(),
        "kinds_text": _kinds_text(track),
        "starter": starter,
        "text": text,
        "hidden": hidden_text(text),
        "repair": repair,
        "draft": kept,
        "is_other_text": earlier is not None or form.is_bound or "replaced" in request.GET,
        "earlier": earlier,
        "form": form,
        "nonce": nonce,
        "idempotency_key": uuid.uuid4().hex,
        "made_for": page_mark(request),
        "has_home_script": track == Track.NUMPY,
        "now": now,
        "deadline": deadline,
        "is_past_deadline": is_past(deadline, now),
        "submissions": own[:OWN_SUBMISSIONS_SHOWN],
    }
    response = render(request, "grader/exercise.html", context)
    patch_cache_control(response, private=True, no_cache=True)
    csp.allow_style(response, nonce)
    return response


def _kinds_text(track: str) -> str:
    """Say which verdicts a submission of the track gets; empty where there is only one kind."""
    if track not in Track.values or not Track(track).second_kind:
        return ""
    when = ON_A_GPU[waiting.nodes_for(NodeKind.DEVICE, track)]
    text = f"graded twice: at once on a processor, and on a GPU{when}"
    return f"A submission of this track is {text}. {WHAT_COUNTS[Track(track).kind]}"


def _seen(request: HttpRequest) -> int:
    """Return the version of the draft that the posted text is based on."""
    seen = request.POST.get("seen", "")
    return int(seen) if re.fullmatch(r"[0-9]{1,9}", seen) else UNSEEN


def _text(
    request: HttpRequest,
    form: SubmitForm,
    earlier: Submission | None,
    kept: Draft | None,
    starter: str,
) -> str:
    """Return the editor's initial text: just sent, asked for, last typed, or the starter."""
    if form.is_bound:
        return str(form["source"].value() or "")
    if earlier is not None:
        return earlier.source
    if kept and kept.replaced_source and "replaced" in request.GET:
        return kept.replaced_source
    return kept.source if kept and kept.source.strip() else starter


def _earlier(request: HttpRequest, exercise: Exercise) -> Submission | None:
    """Return the submission that "edit and submit again" starts from."""
    public_id = request.GET.get("from", "")
    if not public_id:
        return None
    visible = access.visible_submissions(request.user).filter(exercise=exercise)
    return visible.filter(public_id=public_id).first()
