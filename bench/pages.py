"""Requests per second of the chapter page, beside a bare Django view in the same run.

Client and servers share the machine: compare the rows, do not quote them as capacity.
"""

from __future__ import annotations

import http.client
import multiprocessing
import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from bench.results import summary
from tests.platform.instance import PROJECT, Instance, free_port, wait_for

CLIENT_PROCESSES = 2
CONNECTIONS_PER_PROCESS = 4
SECONDS = 6.0
CHAPTER = "/courses/learn-ml-from-scratch/deep-neural-representations/"


def measure(folder: Path) -> dict[str, Any]:
    """Measure each page with 8 connections kept open."""
    instance = Instance(folder / "data")
    try:
        instance.start().wait_until_ready()
        instance.wait_until_graders_work()
        port = int(instance.environment["PORT"])
        etag = one_answer(port, CHAPTER, {}).getheader("ETag") or ""
        with bare_server() as bare:
            rows = {
                "bare view": load(bare, "/", {}),
                "chapter page": load(port, CHAPTER, {}),
                "chapter page, gzip": load(port, CHAPTER, {"Accept-Encoding": "gzip"}),
                "chapter page, not modified": load(port, CHAPTER, {"If-None-Match": etag}),
                "home page": load(port, "/", {}),
                "bare view, again": load(bare, "/", {}),
            }
        return {
            "unit": "requests/s; latency in ms",
            "servers": "gunicorn gthread, 2 workers, 8 threads each",
            "connections": CLIENT_PROCESSES * CONNECTIONS_PER_PROCESS,
            "rows": rows,
        }
    finally:
        instance.end()


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
    threads = [
        threading.Thread(target=client_thread, args=(port, path, headers, latencies))
        for _ in range(CONNECTIONS_PER_PROCESS)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    results.put(latencies)


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
