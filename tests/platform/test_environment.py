"""Variables are read strictly, and a bad one is named in a sentence."""

from __future__ import annotations

import re
import subprocess
import sys

import pytest

from learnml import environment
from learnml.environment import BadSetting, check_all, read
from tests.platform.instance import PATIENCE_SECONDS, PROJECT

GOOD = {
    "PORT": "8001",
    "DATABASE_URL": "postgres://user:p%40ss@host:5432/name",
    "REDIS_URL": "redis://:password@localhost:6379/0",
    "LEARNML_API_RATE_USER": "1200/min",
    "LEARNML_HEARTBEAT_SECONDS": "0.5",
    "LEARNML_SSL_REDIRECT": "off",
    "LEARNML_TRUSTED_ORIGINS": "https://a.example.org, https://b.example.org:8443",
    "LEARNML_LOG_LEVEL": "debug",
    "LEARNML_PROXIES": "0",
}
BAD = [
    ("PORT", "0"),
    ("PORT", "8_000"),
    ("DATABASE_URL", "foo"),
    ("DATABASE_URL", "postgres://host:port/name"),
    ("DATABASE_URL", "postgres://host"),
    ("DATABASE_URL", "mysql://host/name"),
    ("REDIS_URL", "localhost:6379"),
    ("REDIS_URL", "redis://[::1"),
    ("LEARNML_CACHE_URL", "localhost:6380"),
    ("LEARNML_QUEUE_SOCKET", "/" + "long/" * 30),
    ("LEARNML_EMAIL_VERIFICATION", "yes"),
    ("LEARNML_SUBMISSIONS_PER_MINUTE", "abc"),
    ("LEARNML_SUBMISSIONS_PER_MINUTE", "0"),
    ("LEARNML_WEB_WORKERS", "²"),
    ("LEARNML_WEB_THREADS", "-1"),
    ("LEARNML_HEARTBEAT_SECONDS", "nan"),
    ("LEARNML_SWEEP_INTERVAL_SECONDS", "0"),
    ("LEARNML_TASK_TIME_LIMIT_SECONDS", "inf"),
    ("LEARNML_API_RATE_ANONYMOUS", "300"),
    ("LEARNML_API_RATE_USER", "many/min"),
    ("LEARNML_SSL_REDIRECT", "ture"),
    ("LEARNML_LOG_LEVEL", "LOUD"),
    ("LEARNML_LOG_FORMAT", "xml"),
    ("LEARNML_WEB_LOG_LEVEL", "loud"),
    ("LEARNML_TRUSTED_ORIGINS", "learn.example.org"),
]


@pytest.mark.parametrize(("name", "text"), BAD)
def test_bad_value_is_named_with_what_to_do(name: str, text: str) -> None:
    with pytest.raises(BadSetting) as refused:
        check_all({name: text})
    assert str(refused.value).startswith(name)
    assert re.search(r"(Set \w+ to one|Use a number)", str(refused.value))


def test_good_values_pass_and_empty_ones_count_as_not_set() -> None:
    check_all(GOOD)
    check_all(dict.fromkeys(environment.PARSERS, ""))
    assert read("LEARNML_PROXIES", 1, {"LEARNML_PROXIES": "0"}) == 0
    assert read("LEARNML_PROXIES", 1, {"LEARNML_PROXIES": ""}) == 1
    assert read("LEARNML_SSL_REDIRECT", True, GOOD) is False


def test_passwords_in_addresses_are_not_repeated() -> None:
    for name in ("DATABASE_URL", "REDIS_URL", "LEARNML_CACHE_URL"):
        with pytest.raises(BadSetting) as refused:
            check_all({name: "http://user:a-secret@host/"})
        assert "a-secret" not in str(refused.value)


@pytest.mark.parametrize("module", ["nope", "learnml.settings.nope", ".relative", "learnml.nope.x"])
def test_module_of_settings_that_is_none_is_named(module: str) -> None:
    with pytest.raises(BadSetting, match="DJANGO_SETTINGS_MODULE"):
        check_all({"DJANGO_SETTINGS_MODULE": module})


@pytest.mark.parametrize("missing", environment.REQUIRED_IN_PRODUCTION)
def test_production_needs_its_secrets(missing: str) -> None:
    # Long enough for a key, and a host name.
    given = dict.fromkeys(environment.REQUIRED_IN_PRODUCTION, "learn-0123456789." * 4 + "org")
    production = {"DJANGO_SETTINGS_MODULE": environment.PRODUCTION_SETTINGS}
    check_all({**given, **production})
    with pytest.raises(BadSetting, match=missing):
        check_all({**given, **production, missing: ""})


def test_every_number_and_choice_that_the_settings_read_is_checked() -> None:
    """Whatever is read with a default that is no text must have a parser, or stays text."""
    found: set[str] = set()
    for path in (
        *(PROJECT / "learnml" / "settings").glob("*.py"),
        PROJECT / "learnml/gunicorn.conf.py",
    ):
        found |= set(
            re.findall(r'read\(\s*"(\w+)",\s*(?:[0-9]|True|False|None|\[)', path.read_text())
        )
    assert len(found) > 15
    assert found <= set(environment.PARSERS)


def test_the_web_server_alone_says_it_too() -> None:
    """In a container no supervisor looks first."""
    refused = subprocess.run(
        [sys.executable, "-m", "gunicorn", "-c", "learnml/gunicorn.conf.py"],
        cwd=PROJECT,
        env={"LEARNML_WEB_WORKERS": "abc", "PATH": "/usr/bin:/bin"},
        capture_output=True,
        text=True,
        timeout=PATIENCE_SECONDS,
    )
    assert refused.returncode == 1
    assert refused.stderr.startswith("LEARNML_WEB_WORKERS=abc")
    assert "Traceback" not in refused.stderr
