"""Configurations that production must not have are refused at each start."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

from learnml.environment import PRODUCTION_SETTINGS, BadSetting, check_all, read

KEY = "abcdefghij-0123456789-ABCDEFGHIJ-abcdefghij-0123456789"
PRODUCTION = {
    "DJANGO_SETTINGS_MODULE": PRODUCTION_SETTINGS,
    "LEARNML_SECRET_KEY": KEY,
    "LEARNML_ALLOWED_HOSTS": "learn.example.org",
}


@pytest.mark.parametrize("key", [KEY[:49], "k" * 60, "changeme-" + KEY, "django-insecure-" + KEY])
def test_weak_secret_key_is_refused_and_not_repeated(key: str) -> None:
    with pytest.raises(BadSetting, match="^LEARNML_SECRET_KEY is short or a placeholder") as found:
        check_all({**PRODUCTION, "LEARNML_SECRET_KEY": key})
    assert key not in str(found.value)
    check_all({**PRODUCTION, "DJANGO_SETTINGS_MODULE": "", "LEARNML_SECRET_KEY": key})


@pytest.mark.parametrize(
    "text",
    [" , ", "https://learn.example.org", "learn.example.org:8000", "learn.example.org/", "a b"],
)
def test_what_is_no_host_name_is_refused(text: str) -> None:
    with pytest.raises(BadSetting, match="LEARNML_ALLOWED_HOSTS=.*without https:// or port"):
        check_all({**PRODUCTION, "LEARNML_ALLOWED_HOSTS": text})


def test_host_names_of_every_form_are_read() -> None:
    text = "learn.example.org, .example.org,127.0.0.1,[::1],localhost,*"
    check_all({**PRODUCTION, "LEARNML_ALLOWED_HOSTS": text})
    assert read("LEARNML_ALLOWED_HOSTS", [], {"LEARNML_ALLOWED_HOSTS": text}) == [
        *("learn.example.org", ".example.org", "127.0.0.1", "[::1]", "localhost", "*")
    ]


@pytest.mark.parametrize(
    ("security", "expected"),
    [("", [False, False]), ("starttls", [True, False]), ("TLS", [False, True])],
)
def test_mail_is_sent_as_the_variables_say(security: str, expected: list[bool]) -> None:
    names = "EMAIL_USE_TLS, EMAIL_USE_SSL, EMAIL_HOST_USER, EMAIL_HOST_PASSWORD"
    mail = {"LEARNML_EMAIL_USER": "learnml", "LEARNML_EMAIL_PASSWORD": "a-password"}
    done = subprocess.run(
        [
            *(sys.executable, "-c"),
            f"import json; from learnml.settings.production import {names}; "
            f"print(json.dumps([{names}]))",
        ],
        env={**os.environ, **PRODUCTION, **mail, "LEARNML_EMAIL_SECURITY": security},
        capture_output=True,
        check=True,
    )
    assert json.loads(done.stdout) == [*expected, "learnml", "a-password"]
