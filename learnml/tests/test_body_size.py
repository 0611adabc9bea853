"""A body that no request needs is refused at every address, before anything of it is kept."""

from __future__ import annotations

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.http.multipartparser import MultiPartParser
from django.test import Client
from pytest_django.fixtures import Settings

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
