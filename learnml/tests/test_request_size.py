"""Requests that are too large are refused at every address, before they are stored."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import User
from django.core.files.uploadedfile import SimpleUploadedFile
from django.http.multipartparser import MultiPartParser
from django.test import Client
from pytest_django.fixtures import Settings

from courses import held_forms
from grader import request_size

PAGES = ["/accounts/login/", "/theme/", "/admin/login/", "/nothing/"]
API = ["/api/v1/docs/", "/api/v1/tokens/", "/api/v1/nothing/"]


@pytest.mark.django_db
@pytest.mark.parametrize("path", [*PAGES, *API])
def test_large_file_is_refused_before_it_is_parsed(
    client: Client, path: str, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.MAX_BODY_BYTES = 1_000
    parsed: list[MultiPartParser] = []
    monkeypatch.setattr(MultiPartParser, "parse", parsed.append)
    response = client.post(path, {"file": SimpleUploadedFile("file.bin", b"\0" * 1_000)})
    assert response.status_code == 413
    assert parsed == []
    if path in API:
        assert response.headers["Content-Type"] == "application/problem+json"
        assert response.json()["code"] == "body_too_large"
    else:
        assert b"too large" in response.content
        assert "Content-Security-Policy" in response.headers


@pytest.mark.django_db
def test_body_of_the_size_allowed_is_read(client: Client, settings: Settings) -> None:
    settings.MAX_BODY_BYTES = 1_000
    response = client.post("/theme/", {"theme": "dark", "file": SimpleUploadedFile("a", b"0" * 99)})
    assert response.status_code == 303
    assert response.cookies["theme"].value == "dark"


WHO = ["visitor", "learner", "author", "author of an ended session"]


@pytest.mark.django_db
@pytest.mark.parametrize("who", WHO)
def test_only_those_who_may_use_the_admin_may_send_it_large_forms(
    who: str, client: Client, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    sizes = {"small": settings.MAX_BODY_BYTES, "large": held_forms.MAX_HELD_BYTES}
    sizes["larger"] = sizes["large"] + 1
    sizes["huge"] = settings.MAX_ADMIN_BODY_BYTES + 1
    if who != "visitor":
        client.force_login(User.objects.create_user("user", is_staff=who.startswith("author")))
        client.get("/admin/")
    if who == "author of an ended session":
        del client.cookies[settings.SESSION_COOKIE_NAME]
    monkeypatch.setattr(request_size, "drain", lambda request: None)
    refused = []
    for name, size in sizes.items():
        monkeypatch.setattr(request_size, "announced_bytes", lambda request, size=size: size)
        if client.post("/admin/courses/chapter/add/", {}).status_code == 413:
            refused.append(name)
        assert name == "small" or client.post("/theme/", {}).status_code == 413
    allowed = {"author": 3, "author of an ended session": 2}.get(who, 1)
    assert refused == list(sizes)[allowed:]
