"""Responses with one submission, each with its ETag."""

from __future__ import annotations

from typing import Any

from rest_framework.request import Request
from rest_framework.response import Response

from grader.models import Submission
from grader.presentation.page import SubmissionPage

from .serializers import SubmissionSerializer


def submission_answer(
    request: Request, submission: Submission, status: int = 200, page: SubmissionPage | None = None
) -> Response:
    """Return the submission as it is now. Its ETag can be sent as `If-Match` right away."""
    page = page or SubmissionPage.of(submission)
    context: dict[str, Any] = {"request": request, "page": page}
    data = SubmissionSerializer(submission, context=context).data
    headers = {"ETag": page.etag, "Cache-Control": "private, no-cache"}
    return Response(data, status=status, headers=headers)
