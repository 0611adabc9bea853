"""From submission to verdict through the REST API: one at a time, and all at once."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

from bench.results import summary
from tests.platform.client import Client, chapter_listing
from tests.platform.instance import Instance

SUBMISSIONS = 50


def measure(folder: Path) -> dict[str, Any]:
    """Grade the chapter's own listing; the client asks for the verdict every 20 ms."""
    instance = Instance(
        folder / "data",
        LEARNML_SUBMISSIONS_PER_MINUTE="100000",
        LEARNML_MAX_OPEN_SUBMISSIONS="1000",
    )
    try:
        instance.start().wait_until_ready()
        instance.wait_until_graders_work()
        client = Client(instance.base_url, "learner")
        source = chapter_listing()
        client.verdict(client.submit(source))
        return {
            "unit": "s",
            "exercise": "rmsnorm, NumPy track, accepted",
            "one_at_a_time": summary([one(client, source) for _ in range(SUBMISSIONS)]),
            **burst(client, source),
        }
    finally:
        instance.end()


def one(client: Client, source: str) -> float:
    begun = time.monotonic()
    verdict = client.verdict(client.submit(source))
    seconds = time.monotonic() - begun
    if verdict["outcome"] != "accepted":
        raise RuntimeError(f"the listing was not accepted: {verdict['outcome']}")
    return seconds


def burst(client: Client, source: str) -> dict[str, Any]:
    begun = time.monotonic()
    submissions = [client.submit(source) for _ in range(SUBMISSIONS)]
    sent = time.monotonic() - begun
    for submission in submissions:
        client.verdict(submission, seconds=300)
    total = time.monotonic() - begun
    return {
        "all_at_once": {
            "count": SUBMISSIONS,
            "sending": round(sent, 3),
            "until_last_verdict": round(total, 3),
            "verdicts_per_second": round(SUBMISSIONS / total, 2),
        }
    }
