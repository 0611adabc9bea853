"""Bad input on the real thing: each gets the right outcome or a clear error, and nothing hangs."""

from __future__ import annotations

import http.client
import urllib.parse
import uuid

import pytest

from tests.e2e.client import Client, wait_until_finished
from tests.e2e.content import EPS_INSIDE_THE_ROOT
from tests.platform.instance import PATIENCE_SECONDS, Instance

pytestmark = [pytest.mark.services]
SUBMISSIONS = "/api/v1/exercises/rmsnorm/submissions/"


@pytest.fixture(scope="module")
def learner(platform_instance: Instance) -> Client:
    client = Client(platform_instance.base_url)
    client.log_in("learner", ["submit", "read"])
    return client


@pytest.mark.parametrize(
    ("source", "outcome", "says"),
    [
        ("class RMSNormScratch(:\n    pass\n", "runtime_error", "line"),
        (
            EPS_INSIDE_THE_ROOT.replace("RMSNormScratch", "RMSNorm"),
            "contract_error",
            "RMSNormScratch",
        ),
        (
            # It waits: that one that computes is stopped is tested where the limit may be short.
            EPS_INSIDE_THE_ROOT + "\nimport time\nwhile True:\n    time.sleep(0.01)\n",
            "time_limit",
            "s",
        ),
        (
            EPS_INSIDE_THE_ROOT + "\nfor _ in range(1000):\n    print('x' * 2**20)\n",
            "output_limit",
            "",
        ),
        (
            EPS_INSIDE_THE_ROOT + "\nwaste = [bytearray(2**28) for _ in range(64)]\n",
            "memory_limit",
            "",
        ),
        (EPS_INSIDE_THE_ROOT + "\nimport os\nos._exit(0)\n", "runtime_error", ""),
        (EPS_INSIDE_THE_ROOT + "\nraise SystemExit(0)\n", "runtime_error", ""),
        (EPS_INSIDE_THE_ROOT + "\nprint('PASS')\n", "accepted", ""),
    ],
    ids=["syntax", "class-name", "endless", "output", "memory", "exit", "system-exit", "prints"],
)
def test_a_bad_program_gets_its_outcome(
    learner: Client, source: str, outcome: str, says: str
) -> None:
    status, _, submitted = learner.call("POST", SUBMISSIONS, {"track": "numpy", "source": source})
    assert status == 202, submitted
    detail = wait_until_finished(learner, f"/api/v1/submissions/{submitted['id']}/")
    assert detail["outcome"] == outcome, detail["report"]
    failure = detail["report"]["failure"] or {}
    assert says in str(failure)


@pytest.mark.parametrize(
    ("source", "status"),
    [
        ("x" * 10_000_000, 413),
        ("x" * 65_537, 413),
        ("a = '\0'", 400),
        ("", 400),
        ("\ud800", 400),
        (7, 400),
    ],
    ids=["10-MB", "65537-bytes", "NUL", "empty", "surrogate", "number"],
)
def test_a_bad_source_is_refused_with_a_problem_document(
    learner: Client, source: object, status: int
) -> None:
    got, headers, problem = learner.call("POST", SUBMISSIONS, {"track": "numpy", "source": source})
    assert got == status
    assert headers["Content-Type"] == "application/problem+json"
    assert problem["status"] == status
    assert problem["detail"] or problem["errors"]


def test_a_file_that_is_not_utf8_is_refused(learner: Client, platform_instance: Instance) -> None:
    boundary = uuid.uuid4().hex
    body = (
        (
            f'--{boundary}\r\nContent-Disposition: form-data; name="track"\r\n\r\nnumpy\r\n'
            f'--{boundary}\r\nContent-Disposition: form-data; name="source"; filename="a.py"\r\n'
            "Content-Type: text/x-python\r\n\r\n"
        ).encode()
        + b"x = '\xff\xfe'\r\n"
        + f"--{boundary}--\r\n".encode()
    )
    address = urllib.parse.urlsplit(platform_instance.base_url)
    connection = http.client.HTTPConnection(address.netloc, timeout=PATIENCE_SECONDS)
    connection.request(
        "POST",
        SUBMISSIONS,
        body,
        {**learner.headers, "Content-Type": f"multipart/form-data; boundary={boundary}"},
    )
    answer = connection.getresponse()
    text = answer.read().decode()
    assert answer.status == 400, text
    assert "UTF-8" in text


@pytest.mark.parametrize(
    "path",
    [
        "/no-such-page/",
        "/courses/learn-ml-from-scratch/no-such-chapter/",
        "/exercises/no-such-exercise/",
        "/math/0000000000000000.css",
        "/courses/learn-ml-from-scratch/deep-neural-representations/files/..%2fchapter.yaml",
    ],
)
def test_what_is_not_there_is_said_to_be_missing(platform_instance: Instance, path: str) -> None:
    assert platform_instance.get(path)[0] == 404
    assert platform_instance.get("/healthz")[0] == 200


def test_a_visitor_is_sent_to_sign_in_whether_or_not_there_is_such_a_submission(
    platform_instance: Instance,
) -> None:
    status, text = platform_instance.get("/submissions/aaaaaaaaaaaaaaaa/")
    assert status == 200
    assert "<h1>Sign in</h1>" in text
