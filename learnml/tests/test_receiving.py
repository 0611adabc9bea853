"""Slow clients hold no thread; complete, fragmented and malformed requests are answered."""

from __future__ import annotations

import contextlib
import http.client
import os
import shutil
import socket
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest

from learnml.framing import MAX_DRAINED_BYTES, MAX_HEADER_BYTES, Receiving
from learnml.tests.wsgi_echo import BODY_LIMIT, HUGE_BYTES, LARGE_BYTES
from tests.platform.instance import (
    PATIENCE_SECONDS,
    PROJECT,
    free_port,
    wait_for,
    with_this_process,
)

THREADS = 2
CONTINUE = b"HTTP/1.1 100 Continue\r\n\r\n"


class TestReceiving:
    """What is known of a request from what has come of it."""

    def received(self, *pieces: bytes, limit: int = 100) -> Receiving:
        receiving = Receiving(0.0, limit)
        for piece in pieces:
            receiving.add(piece)
        return receiving

    @pytest.mark.parametrize(
        "text",
        [
            b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n",
            b"POST / HTTP/1.1\r\nContent-Length: 3\r\n\r\nabc",
            b"POST / HTTP/1.1\r\ncontent-length:3 \r\n\r\nabc",
            b"POST / HTTP/1.1\r\nContent-Length: 0\r\n\r\n",
            b"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n",
            b"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
            b"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\nTrailer: x\r\n\r\n",
            b"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nD;a=b\r\na\r\n0\r\n\r\n0\r\n\r\n"
            b"\r\n0\r\n\r\n",
            b"POST / HTTP/1.1\r\nContent-Length: " + b"0" * 40 + b"3\r\n\r\nabc",
        ],
    )
    def test_a_request_is_whole_with_its_last_byte(self, text: bytes) -> None:
        receiving = Receiving(0.0, 100)
        for number in range(len(text)):
            assert not receiving.is_whole, text[:number]
            receiving.add(text[number : number + 1])
        assert receiving.is_whole
        assert bytes(receiving.held) == text
        assert self.received(text).is_whole

    def test_what_follows_a_request_is_kept_for_the_next(self) -> None:
        two = b"POST / HTTP/1.1\r\nContent-Length: 3\r\n\r\nabcGET / HTTP/1.1\r\n"
        assert bytes(self.received(two).held) == two

    @pytest.mark.parametrize(
        "line",
        [
            b"Content-Length: 3\r\nContent-Length: 4",
            b"Content-Length: x",
            b"Content-Length: -1",
            b"Content-Length: \xb2",
            b"Content-Length: " + b"9" * 5000,
            b"Transfer-Encoding: chunked\r\n\r\nnonsense",
        ],
    )
    def test_headers_that_make_no_sense_are_answered_at_once(self, line: bytes) -> None:
        assert self.received(b"POST / HTTP/1.1\r\n" + line + b"\r\n\r\n").is_whole

    def test_trailers_without_end_are_not_waited_for(self) -> None:
        head = b"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\nA: "
        assert not self.received(head, b"a" * 1000).is_whole
        assert self.received(head, b"a" * MAX_HEADER_BYTES).is_whole

    def test_a_body_that_is_too_large_is_dropped_as_it_comes(self) -> None:
        head = b"POST / HTTP/1.1\r\nContent-Length: 250\r\n\r\n"
        receiving = self.received(head + b"a" * 50)
        for _ in range(2):
            assert bytes(receiving.held) == head
            assert not receiving.is_whole
            receiving.add(b"a" * 100)
        assert receiving.is_whole
        assert bytes(receiving.held) == head

    def test_a_body_of_unknown_length_is_taken_up_to_the_limit(self) -> None:
        head = b"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n"
        chunk = b"10\r\n0123456789abcdef\r\n"
        assert self.received(head, *[chunk] * 4).refusal(0.0) == ""
        for too_much in ([chunk] * 5, [b"ffffffff\r\n"]):
            receiving = self.received(head, *too_much)
            assert not receiving.is_whole
            assert receiving.refusal(0.0).startswith("413")

    def test_time_is_limited_and_so_are_headers(self) -> None:
        begun = self.received(b"POST / HTTP/1.1\r\n")
        assert begun.refusal(20.0) == ""
        assert begun.refusal(20.1) == "408 Request Timeout"
        sending = self.received(b"POST / HTTP/1.1\r\nContent-Length: 9\r\n\r\n")
        assert sending.refusal(180.0) == ""
        assert sending.refusal(180.1) == "408 Request Timeout"
        endless = self.received(b"A: " + b"a" * MAX_HEADER_BYTES)
        assert endless.refusal(0.0).startswith("431")

    def test_who_waits_to_be_asked_for_the_body_is_asked_once(self) -> None:
        head = b"POST / HTTP/1.1\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n"
        assert self.received(head).expects_continue
        assert not self.received(head + b"ab").expects_continue


@contextlib.contextmanager
def running(folder: Path, port: int, *command: str, **environment: str) -> Iterator[None]:
    """Run a server until the block ends, which begins when it answers."""
    with (folder / f"{port}.log").open("wb") as log:
        process = subprocess.Popen(
            [*with_this_process(), *command],
            cwd=PROJECT,
            env={**os.environ, **environment},
            stdout=log,
            stderr=log,
        )
    try:
        wait_for(lambda: serves(port), PATIENCE_SECONDS, f"{command[0]} to answer")
        yield
    finally:
        process.terminate()
        process.wait(PATIENCE_SECONDS)


@pytest.fixture(scope="module")
def web(tmp_path_factory: pytest.TempPathFactory) -> Iterator[int]:
    """The port of a web server with two threads."""
    port = free_port()
    command = [sys.executable, "-m", "gunicorn", "learnml.tests.wsgi_echo:application"]
    command += ["-c", os.devnull, "--worker-class", "learnml.receiving.ReceivingWorker"]
    command += ["--bind", f"127.0.0.1:{port}", "--threads", str(THREADS), "--workers", "1"]
    with running(tmp_path_factory.mktemp("web"), port, *command):
        yield port


@pytest.fixture(scope="module")
def proxy(web: int, tmp_path_factory: pytest.TempPathFactory) -> Iterator[int]:
    """The port of Debian's Caddy before it, with what `deploy/` ships."""
    caddy = shutil.which("caddy")
    assert caddy, "caddy is not installed. As root: apt-get install caddy"
    folder = tmp_path_factory.mktemp("proxy")
    port = free_port()
    shipped = (PROJECT / "deploy/Caddyfile").read_text()
    here = shipped.replace("\n{\n", "\n{\n\tadmin off\n", 1)
    here = here.replace("learnml.example.org", f"http://127.0.0.1:{port}")
    here = here.replace("127.0.0.1:8000", f"127.0.0.1:{web}")
    assert here.count("admin off") == here.count(str(port)) == here.count(str(web)) == 1
    (folder / "Caddyfile").write_text(here)
    command = [caddy, "run", "--adapter", "caddyfile", "--config", str(folder / "Caddyfile")]
    home = str(folder)
    with running(folder, port, *command, HOME=home, XDG_CONFIG_HOME=home, XDG_DATA_HOME=home):
        yield port


@pytest.fixture(params=["web", "proxy"])
def port(request: pytest.FixtureRequest) -> int:
    """Both ways to the site: on an open address, and through the proxy."""
    return int(request.getfixturevalue(request.param))


def serves(port: int) -> bool:
    try:
        return ask(port) == "GET - 0 "
    except (OSError, http.client.HTTPException):
        return False


def ask(port: int, body: bytes | None = None, path: str = "/") -> str:
    request = urllib.request.Request(f"http://127.0.0.1:{port}{path}", data=body)
    with urllib.request.urlopen(request, timeout=PATIENCE_SECONDS) as answer:  # noqa: S310
        return answer.read(200).decode("latin-1")


@contextlib.contextmanager
def connected(port: int, count: int = 1) -> Iterator[list[socket.socket]]:
    with contextlib.ExitStack() as stack:
        yield [
            stack.enter_context(
                socket.create_connection(("127.0.0.1", port), timeout=PATIENCE_SECONDS)
            )
            for _ in range(count)
        ]


def answer_on(connection: socket.socket) -> bytes:
    """Read one answer whose length is told."""
    text = b""
    while b"\r\n\r\n" not in text:
        piece = connection.recv(4096)
        if not piece:
            return text
        text = (text + piece).removeprefix(CONTINUE)
    head, _, body = text.partition(b"\r\n\r\n")
    length = int(head.lower().partition(b"content-length: ")[2].split(b"\r\n")[0])
    pieces = [body]
    while (left := length - sum(map(len, pieces))) > 0:
        pieces.append(connection.recv(min(left, 1 << 20)))
        assert pieces[-1]
    body = b"".join(pieces)
    return head.split(b"\r\n")[0] + b" | " + body


GET = b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"
POST = b"POST / HTTP/1.1\r\nHost: 127.0.0.1\r\n"
LARGE = b"GET /large/ HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"


class TestServer:
    def test_slow_uploads_slow_headers_and_silence_leave_the_threads_to_others(
        self, port: int
    ) -> None:
        with connected(port, 120) as slow:
            uploads, headers, silent = slow[:40], slow[40:80], slow[80:]
            for connection in uploads:
                connection.sendall(POST + b"Content-Length: 6\r\n\r\na")
            for connection in headers:
                connection.sendall(GET[:-5])
            for letter in (b"b", b"c"):
                assert ask(port) == "GET - 0 "
                assert ask(port, b"hello") == "POST 5 5 hello"
                for connection in uploads:
                    connection.sendall(letter)
            for connection in uploads:
                connection.sendall(b"def")
                assert answer_on(connection).endswith(b"| POST 6 6 abcdef")
            for connection in headers:
                connection.sendall(GET[-5:])
                assert answer_on(connection).endswith(b"| GET - 0 ")
            for connection in silent:
                connection.sendall(GET)
                assert answer_on(connection).endswith(b"| GET - 0 ")

    def test_slow_uploads_of_too_much_hold_no_thread_either(self, port: int) -> None:
        with connected(port, 40) as slow:
            for connection in slow:
                connection.sendall(POST + b"Content-Length: 900000000\r\n\r\na")
            assert ask(port, b"hello") == "POST 5 5 hello"

    def test_who_takes_no_answer_leaves_the_threads_to_others(self, port: int) -> None:
        """Answers that no buffer of the system holds."""
        with connected(port, 10) as readers:
            for reader in readers:
                reader.sendall(LARGE)
            for _ in range(3):
                assert ask(port) == "GET - 0 "
            for reader in readers:
                # All of it comes in the end.
                assert answer_on(reader).count(b"x") == LARGE_BYTES

    def test_an_answer_for_which_there_is_no_room_has_a_thread_wait(self, web: int) -> None:
        with connected(web) as (reader,):
            reader.sendall(LARGE.replace(b"large", b"huge"))
            assert ask(web) == "GET - 0 "
            assert answer_on(reader).count(b"x") == HUGE_BYTES

    @pytest.mark.parametrize(
        "last",
        [
            pytest.param(b"GET / HTTP/1.0\r\nHost: 127.0.0.1\r\n\r\n", id="old"),
            pytest.param(
                b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n", id="close"
            ),
            pytest.param(b"nonsense\r\n\r\n", id="nonsense"),
        ],
    )
    def test_clients_that_do_not_close_their_end_keep_nobody_waiting(
        self, web: int, last: bytes
    ) -> None:
        with connected(web, 200) as lasting:
            for connection in lasting:
                connection.sendall(last)
                assert connection.recv(4096)
            assert ask(web) == "GET - 0 "

    @pytest.mark.parametrize(
        "rest",
        [
            pytest.param(b"Content-Length: " + b"0" * 30 + b"9\r\n\r\nabc", id="long number"),
            pytest.param(
                b"Transfer-Encoding: chunked\r\n\r\na00\r\n\r\n0\r\n\r\n", id="end in a chunk"
            ),
            pytest.param(b"Transfer-Encoding: chunked\r\n\r\nff", id="unfinished size"),
            pytest.param(b"Transfer-Encoding: chunked\r\n\r\n0\r\nA: b\r\n", id="trailers"),
        ],
    )
    def test_bodies_that_only_look_whole_hold_no_thread(self, web: int, rest: bytes) -> None:
        with connected(web, 20) as slow:
            for connection in slow:
                connection.sendall(POST + rest)
            assert ask(web) == "GET - 0 "

    def test_a_half_closed_connection_is_answered(self, web: int) -> None:
        with connected(web) as (connection,):
            connection.sendall(POST + b"Content-Length: 2\r\n\r\nab")
            connection.shutdown(socket.SHUT_WR)
            assert answer_on(connection).endswith(b"| POST 2 2 ab")

    def test_what_is_left_of_a_body_is_no_request(self, web: int) -> None:
        with connected(web) as (connection,):
            announced = f"Content-Length: {MAX_DRAINED_BYTES + 1_000_000}\r\n\r\n".encode()
            connection.sendall(POST + announced + b"a" * MAX_DRAINED_BYTES)
            with contextlib.suppress(OSError):
                connection.sendall(GET + GET)
            answers = b""
            with contextlib.suppress(OSError):
                while piece := connection.recv(4096):
                    answers += piece
            assert answers.count(b"HTTP/1.1 200") == 1
            assert b"Connection: close" in answers

    def test_a_connection_serves_requests_one_after_the_other(self, web: int) -> None:
        with connected(web) as (connection,):
            for body in (b"one", b"two", b""):
                length = f"Content-Length: {len(body)}\r\n\r\n".encode()
                connection.sendall(POST + length + body)
                assert answer_on(connection).endswith(body)
            # Two at once.
            connection.sendall((POST + b"Content-Length: 1\r\n\r\nx") * 2)
            both = b""
            while both.count(b"POST 1 1 x") < 2:
                piece = connection.recv(4096)
                assert piece, both
                both += piece

    def test_a_body_in_chunks_is_read(self, web: int) -> None:
        with connected(web) as (connection,):
            connection.sendall(POST + b"Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n")
            connection.sendall(b"2\r\nde\r\n0\r\n\r\n")
            assert answer_on(connection).endswith(b"| POST - 5 abcde")

    def test_who_asks_before_sending_is_told_to_go_on(self, web: int) -> None:
        with connected(web) as (connection,):
            connection.sendall(POST + b"Expect: 100-continue\r\nContent-Length: 2\r\n\r\n")
            assert connection.recv(4096) == CONTINUE
            connection.sendall(b"ab")
            assert answer_on(connection).endswith(b"| POST 2 2 ab")

    def test_a_body_that_is_too_large_reaches_the_site_as_an_empty_one(self, web: int) -> None:
        announced = BODY_LIMIT + 1
        assert ask(web, b"a" * BODY_LIMIT).startswith(f"POST {BODY_LIMIT} {BODY_LIMIT} a")
        assert ask(web, b"a" * announced) == f"POST {announced} 0 "

    @pytest.mark.parametrize(
        ("text", "status"),
        [
            (b"nonsense\r\n\r\n", b"400"),
            (POST + b"Content-Length: 1\r\nContent-Length: 2\r\n\r\n", b"400"),
            (b"GET / HTTP/1.1\r\nA: " + b"a" * MAX_HEADER_BYTES, b"431"),
        ],
    )
    def test_what_makes_no_sense_is_refused(self, web: int, text: bytes, status: bytes) -> None:
        with connected(web) as (connection,):
            connection.sendall(text)
            assert connection.recv(4096).split()[1] == status

    def test_a_client_that_leaves_costs_nothing(self, port: int) -> None:
        for _ in range(50):
            with connected(port) as (connection,):
                connection.sendall(POST + b"Content-Length: 10\r\n\r\nabc")
        assert ask(port) == "GET - 0 "
