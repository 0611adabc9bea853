"""Requests per second of the chapter page, beside a bare Django view in the same run.

Client and servers share the machine: compare the rows, do not quote them as capacity.
"""

from __future__ import annotations

import http.client
import multiprocessing
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from http.cookies import SimpleCookie
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from bench.results import summary
from tests.platform.instance import DEMO_PASSWORD, PROJECT, Instance, free_port, wait_for

CLIENT_PROCESSES = 2
CONNECTIONS_PER_PROCESS = 4
SECONDS = 6.0
BROWSER = {"Accept-Encoding": "gzip, deflate, br, zstd"}
CHAPTER = "/courses/learn-ml-from-scratch/deep-neural-representations/"


def measure(folder: Path) -> dict[str, Any]:
    """Measure each page with 8 connections kept open."""
    instance = Instance(folder / "data")
    try:
        instance.start().wait_until_ready()
        instance.wait_until_graders_work()
        port = int(instance.environment["PORT"])
        known = {"If-None-Match": one_answer(port, CHAPTER, BROWSER).getheader("ETag") or ""}
        signed_in = {"Cookie": session_cookie(port, "learner")}
        with bare_server() as bare:
            rows = {
                "bare view": load(bare, "/", {}),
                "chapter page": load(port, CHAPTER, BROWSER),
                "chapter page, not modified": load(port, CHAPTER, {**BROWSER, **known}),
                "chapter page, not compressed": load(port, CHAPTER, {}),
                "home page": load(port, "/", BROWSER),
                "bare view, again": load(bare, "/", {}),
                "chapter page, signed in": load(port, CHAPTER, {**BROWSER, **signed_in}),
                "dashboard, signed in": load(port, "/dashboard/", {**BROWSER, **signed_in}),
            }
        bare_rate = statistics.mean(
            rows[name]["requests_per_second"] for name in ("bare view", "bare view, again")
        )
        for row in rows.values():
            row["of_bare_view"] = round(row["requests_per_second"] / bare_rate, 3)
        return {
            "unit": "requests/s; latency in ms",
            "servers": "gunicorn gthread, 2 workers, 8 threads each",
            "connections": CLIENT_PROCESSES * CONNECTIONS_PER_PROCESS,
            "rows": rows,
        }
    finally:
        instance.end()


def session_cookie(port: int, username: str) -> str:
    """Sign in, as a form of the site itself does, and return the session's cookie."""
    form = urlencode({"login": username, "password": DEMO_PASSWORD})
    headers = {
        "Content-Type": "application/x-www-form-urlencoded",
        "Origin": f"http://127.0.0.1:{port}",
    }
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=20)
    connection.request("POST", "/accounts/login/", form, headers)
    answer = connection.getresponse()
    answer.read()
    cookies = SimpleCookie(", ".join(answer.headers.get_all("Set-Cookie") or []))
    return f"sessionid={cookies['sessionid'].value}"


@contextmanager
def bare_server() -> Iterator[int]:
    """Serve bench/bare.py with the site's own gunicorn configuration."""
    port = free_port()
    process = subprocess.Popen(
        [sys.executable, "-m", "gunicorn", "-c", "learnml/gunicorn.conf.py", "bench.bare"],
        cwd=PROJECT,
        env={**os.environ, "PORT": str(port)},
    )
    try:
        wait_for(lambda: answers(port), 20, "the bare view to answer")
        yield port
    finally:
        process.terminate()
        process.wait(10)


def answers(port: int) -> bool:
    try:
        return one_answer(port, "/", {}).status == 200
    except OSError:
        return False


def one_answer(port: int, path: str, headers: dict[str, str]) -> http.client.HTTPResponse:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=20)
    connection.request("GET", path, headers=headers)
    answer = connection.getresponse()
    answer.read()
    return answer


def load(port: int, path: str, headers: dict[str, str]) -> dict[str, Any]:
    """Ask as fast as possible for some seconds. Return the rate and the latencies."""
    one_answer(port, path, headers)
    context = multiprocessing.get_context("fork")
    results: multiprocessing.Queue[list[float]] = context.Queue()
    workers = [
        context.Process(target=client_process, args=(port, path, headers, results))
        for _ in range(CLIENT_PROCESSES)
    ]
    for worker in workers:
        worker.start()
    latencies = [value for _ in workers for value in results.get()]
    for worker in workers:
        worker.join()
        if worker.exitcode:
            raise RuntimeError(f"a client of {path} failed; what it says stands above")
    answer = one_answer(port, path, headers)
    return {
        "status": answer.status,
        "requests_per_second": round(len(latencies) / SECONDS, 1),
        "latency_ms": summary([value * 1000 for value in latencies]),
    }


def client_process(
    port: int, path: str, headers: dict[str, str], results: multiprocessing.Queue[list[float]]
) -> None:
    latencies: list[float] = []
    with ThreadPoolExecutor(CONNECTIONS_PER_PROCESS) as pool:
        connections = [
            pool.submit(client_thread, port, path, headers, latencies)
            for _ in range(CONNECTIONS_PER_PROCESS)
        ]
    results.put(latencies)
    # Only now, so that nobody waits for what a failed one would have sent.
    for connection in connections:
        connection.result()


def client_thread(port: int, path: str, headers: dict[str, str], latencies: list[float]) -> None:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=20)
    deadline = time.monotonic() + SECONDS
    while (begun := time.monotonic()) < deadline:
        connection.request("GET", path, headers=headers)
        answer = connection.getresponse()
        answer.read()
        if answer.status >= 400:
            raise RuntimeError(f"{path} answered {answer.status}")
        latencies.append(time.monotonic() - begun)
