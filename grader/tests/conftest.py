from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from django.contrib.auth.models import Permission, User
from django.core.cache import cache
from django.db import transaction
from django.db.models import Q
from rest_framework.test import APIClient

from courses.models import Chapter, Course
from grader import services
from grader.models import Exercise, Submission
from grader.services import dispatch
from grader.services.broker import BrokerUnreachable

SOURCE = "class RMSNormScratch:\n    pass\n"


class FakeBroker:
    """Stands in for the queue: keeps what it takes, and can be down or forgetful."""

    def __init__(self) -> None:
        self.sent: list[dict[str, Any]] = []
        self.queues: list[tuple[str, int]] = []
        self.runs: list[dict[str, Any]] = []
        self.run_queues: list[tuple[str, int]] = []
        self.checks: list[dict[str, Any]] = []
        self.check_queues: list[tuple[str, int]] = []
        self.down = False
        self.backlog = 0

    def send(self, task: str, args: list[Any], queue: str, priority: int) -> None:
        if self.down:
            raise BrokerUnreachable("connection refused")
        if task == "gpu_worker.run":
            self.runs.append(args[0])
            self.run_queues.append((queue, priority))
            return
        if task == "gpu_worker.check":
            self.checks.append(args[0])
            self.check_queues.append((queue, priority))
            return
        assert task == "gpu_worker.grade"
        self.sent.append(args[0])
        self.queues.append((queue, priority))

    def waiting(self, queue: str) -> int:
        if self.down:
            raise BrokerUnreachable("connection refused")
        return self.backlog


@pytest.fixture(autouse=True)
def broker() -> Iterator[FakeBroker]:
    fake = FakeBroker()
    former = dispatch.use_transport(lambda: fake)
    cache.clear()
    yield fake
    dispatch.use_transport(former)


@pytest.fixture
def learner(db: None) -> User:
    return User.objects.create_user("learner", "learner@example.org", "learner-password")


@pytest.fixture
def other(db: None) -> User:
    return User.objects.create_user("other", password="other-password")


@pytest.fixture
def grader(db: None) -> User:
    user = User.objects.create_user("grader", password="grader-password", is_staff=True)
    own = Permission.objects.filter(content_type__app_label="grader")
    user.user_permissions.set(
        own.filter(Q(codename__startswith="view_") | Q(codename="change_submission"))
    )
    return user


@pytest.fixture
def chapter(db: None) -> Chapter:
    course = Course.objects.create(slug="a-course", title="A course")
    return Chapter.objects.create(
        course=course, slug="a-chapter", title="A chapter", requirements=["exercise:rmsnorm"]
    )


@pytest.fixture
def exercise(chapter: Chapter) -> Exercise:
    return Exercise.objects.create(
        slug="rmsnorm",
        title="RMSNorm",
        chapter=chapter,
        chapter_slug=chapter.slug,
        summary="Write it.",
        summary_html="<p>Write it.</p>",
        statement="Write it.",
        statement_html="<p>Write it.</p>",
        is_published=True,
    )


@pytest.fixture
def submit(
    learner: User,
    exercise: Exercise,
    django_capture_on_commit_callbacks: Callable[..., Any],
) -> Callable[..., Submission]:
    """Submit as the learner, with the on-commit sending done."""

    def call(source: str | bytes = SOURCE, user: User = learner, **kwargs: Any) -> Submission:
        with django_capture_on_commit_callbacks(execute=True):
            track = kwargs.pop("track", "numpy")
            return services.submit(user, kwargs.pop("exercise", exercise), track, source, **kwargs)

    return call


@pytest.fixture
def kernels(submit: Callable[..., Submission]) -> Callable[..., Submission]:
    """Submit to the CuPy track, which has a verdict of both kinds of nodes."""

    def call(source: str = "x = 1", **kwargs: Any) -> Submission:
        return submit(source, track="cupy", **kwargs)

    return call


@pytest.fixture
def device_required(settings: Any) -> None:
    settings.GRADING = {**settings.GRADING, "CUPY_REQUIRES_DEVICE": True}


@pytest.fixture
def committed(django_capture_on_commit_callbacks: Callable[..., Any]) -> Callable[..., Any]:
    """Call something, and do what it left for after the commit."""

    def call(function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        with django_capture_on_commit_callbacks(execute=True), transaction.atomic():
            return function(*args, **kwargs)

    return call


@pytest.fixture
def api() -> Callable[..., APIClient]:
    """A client with a token of that user."""

    def make(user: User | None = None, *scopes: str) -> APIClient:
        client = APIClient()
        if user is not None:
            _, token = services.create_token(user, "test", scopes or ("read", "submit"))
            client.credentials(HTTP_AUTHORIZATION=f"Token {token}")
        return client

    return make
