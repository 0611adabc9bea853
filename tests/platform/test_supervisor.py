"""`manage.py up` as a user meets it: starting, failing, being killed, stopping."""

from __future__ import annotations

import os
import re
import signal
import socket
import stat
import subprocess
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest

from learnml.supervisor.config import read_config
from learnml.supervisor.main import command_line
from learnml.supervisor.output import Output
from learnml.supervisor.part import Part
from learnml.supervisor.processes import ProcessSpec
from learnml.supervisor.watchdog import Watchdog
from tests.platform.instance import (
    DEMO_PASSWORD,
    PATIENCE_SECONDS,
    PROJECT,
    Instance,
    environment_of,
    runtime_python,
    wait_for,
)

pytestmark = pytest.mark.services

MakeInstance = Callable[..., Instance]
PARTS = ("queue", "cache", "web", "worker", "control", "scheduler")


@pytest.fixture(scope="module")
def running(make_module_instance: MakeInstance) -> Instance:
    instance = make_module_instance(
        LEARNML_SECRET_KEY="a-secret-of-the-site", DATABASE_URL="", LEARNML_EMAIL_HOST="mail"
    )
    instance.wait_until_graders_work()
    return instance


def up(instance: Instance) -> subprocess.CompletedProcess[str]:
    """Run `manage.py up` where it is expected to refuse."""
    return subprocess.run(
        [str(runtime_python()), "manage.py", "up"],
        cwd=PROJECT,
        env=instance.environment,
        capture_output=True,
        text=True,
        timeout=PATIENCE_SECONDS,
    )


def test_the_first_page_answers_when_the_address_is_printed(running: Instance) -> None:
    assert running.get("/")[0] == 200
    assert running.get("/healthz") == (200, "ok\n")


def test_ready_report_names_database_queue_and_workers(running: Instance) -> None:
    report = running.ready_report()
    assert report["ready"] is True
    assert report["database"] == report["queue"] == "ok"
    assert report["workers"] == {"cpu": 1, "gpu": 0}


def test_demo_accounts_are_printed_with_their_password(running: Instance) -> None:
    assert f"learner, author, grader; password: {DEMO_PASSWORD}" in running.output()


def test_printed_command_finds_the_same_data_from_another_shell(running: Instance) -> None:
    match = re.search(r"For an account with all rights: (.+)$", running.output(), re.MULTILINE)
    assert match is not None
    assert match.group(1).startswith(f"LEARNML_DATA={running.data_dir} .venv/bin/python manage.py")
    other_shell = {k: v for k, v in os.environ.items() if not k.startswith("LEARNML_")}
    other_shell.pop("DJANGO_SETTINGS_MODULE", None)
    line = match.group(1).partition("   (")[0].replace(".venv/bin/python", str(runtime_python()))
    made = subprocess.run(
        ["sh", "-c", f"{line} --no-input --username root --email root@example.org"],
        cwd=PROJECT,
        env={**other_shell, "DJANGO_SUPERUSER_PASSWORD": "a-long-password"},
        capture_output=True,
        text=True,
    )
    assert made.returncode == 0, made.stderr


def test_printed_command_names_what_it_needs_and_prints_no_password() -> None:
    local = read_config({})
    assert command_line(local, "check", {}) == ".venv/bin/python manage.py check"
    environ = {
        "DATABASE_URL": "postgres://user:a-secret@host/name",
        "DJANGO_SETTINGS_MODULE": "learnml.settings.production",
        "LEARNML_SECRET_KEY": "a-secret-key-" + "0123456789abcdef" * 3,
        "LEARNML_ALLOWED_HOSTS": "learn.example.org",
        "LEARNML_DATA": "/tmp/a folder",
    }
    line = command_line(read_config(environ), "check", environ)
    assert line.startswith("DJANGO_SETTINGS_MODULE=learnml.settings.production ")
    assert "LEARNML_DATA='/tmp/a folder' " in line
    assert line.endswith("(with the same DATABASE_URL and LEARNML_SECRET_KEY)")
    assert "a-secret" not in line


def test_data_folder_is_private(running: Instance) -> None:
    for folder in (running.data_dir, running.data_dir / "queue"):
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700, folder


def test_queue_listens_on_no_network_port(running: Instance) -> None:
    pid = running.part_pid("queue")
    sockets = {os.readlink(fd) for fd in Path(f"/proc/{pid}/fd").iterdir() if fd.is_symlink()}
    inodes = {name[8:-1] for name in sockets if name.startswith("socket:[")}
    tcp = [line.split() for line in Path(f"/proc/{pid}/net/tcp").read_text().splitlines()[1:]]
    assert inodes, "the queue has a socket"
    assert not [fields for fields in tcp if fields[9] in inodes]


def test_worker_is_given_the_queue_and_no_secret_of_the_site(running: Instance) -> None:
    pid = running.part_pid("worker")
    assert pid is not None
    environment = environment_of(pid)
    assert environment["LEARNML_QUEUE_SOCKET"].endswith("valkey.sock")
    assert environment["LEARNML_WORKER_KEY"].startswith("local.")
    text = "\n".join(f"{name}={value}" for name, value in environment.items())
    for secret in (
        *("a-secret-of-the-site", DEMO_PASSWORD, "DATABASE_URL", "DJANGO_SETTINGS_MODULE"),
        "cache.sock",
    ):
        assert secret not in text


def test_second_start_on_the_same_data_folder_is_refused(running: Instance) -> None:
    refused = up(running)
    assert refused.returncode == 1
    assert "already running" in refused.stderr
    assert running.base_url in refused.stderr
    assert running.get("/healthz")[0] == 200


@pytest.mark.parametrize("name", PARTS)
def test_killed_part_is_started_again(running: Instance, name: str) -> None:
    killed = wait_for(lambda: running.part_pid(name), PATIENCE_SECONDS, f"{name} to run")
    os.kill(killed, signal.SIGKILL)
    again = wait_for(
        lambda: (pid := running.part_pid(name)) != killed and pid,
        PATIENCE_SECONDS,
        f"{name} to run again",
    )
    assert again != killed
    assert f"{name} ended (killed by SIGKILL); starting it again" in running.output()
    wait_for(lambda: running.get("/")[0] == 200, PATIENCE_SECONDS, "the first page")
    wait_for(lambda: running.ready_report().get("ready"), PATIENCE_SECONDS, "the site to be ready")


def test_killed_web_leaves_no_second_listener(running: Instance) -> None:
    """Gunicorn's workers outlive their master for a moment; they must not keep the port."""
    killed = running.part_pid("web")
    assert killed is not None
    family = [pid for pid, command in running.processes().items() if "gunicorn" in command]
    os.kill(killed, signal.SIGKILL)
    wait_for(
        lambda: (pid := running.part_pid("web")) != killed and pid,
        PATIENCE_SECONDS,
        "web to run again",
    )
    assert not set(family) & set(running.processes())


def assert_stops(instance: Instance, number: signal.Signals) -> None:
    """Ask for an end: it waits for seconds, not longer, and leaves nothing."""
    assert instance.stop(number) == 0
    assert instance.processes() == {}
    assert "Traceback" not in instance.output()


def test_a_data_folder_is_used_again_after_a_stop_a_kill_and_the_loss_of_its_database(
    make_instance: MakeInstance,
) -> None:
    instance = make_instance()
    key = (instance.data_dir / "secret_key").read_text()
    assert_stops(instance, signal.SIGINT)

    instance.environment["LEARNML_DEMO_PASSWORD"] = "another"
    instance.start().wait_until_ready()
    assert "Preparing" not in instance.output()
    assert f"password: {DEMO_PASSWORD}" in instance.output()
    assert (instance.data_dir / "secret_key").read_text() == key
    instance.wait_until_graders_work()
    assert instance.process is not None
    instance.process.kill()
    instance.process.wait()
    wait_for(
        lambda: not instance.processes(), PATIENCE_SECONDS, f"no process: {instance.processes()}"
    )

    for path in instance.data_dir.glob("db.sqlite3*"):
        path.unlink()
    instance.start().wait_until_ready()
    assert "Preparing" in instance.output()
    assert (instance.data_dir / "secret_key").read_text() == key
    assert instance.get("/")[0] == 200
    assert_stops(instance, signal.SIGTERM)


def test_signal_while_starting_ends_everything(make_instance: MakeInstance) -> None:
    instance = make_instance(start=False).start()
    wait_for(lambda: instance.processes(), PATIENCE_SECONDS, "the first process")
    time.sleep(0.5)
    assert instance.stop() == 0
    assert instance.processes() == {}


def test_long_data_path_gets_a_short_private_socket(make_instance: MakeInstance) -> None:
    instance = make_instance(start=False)
    longer = instance.data_dir.parent / ("long" * 25) / "data"
    longer.parent.mkdir()
    instance.data_dir.rename(longer)
    instance.data_dir = longer
    instance.environment["LEARNML_DATA"] = str(longer)
    instance.start().wait_until_ready()
    assert instance.ready_report()["queue"] == "ok"
    socket_path = Path(environment_of(instance.part_pid("web") or 0)["LEARNML_QUEUE_SOCKET"])
    assert len(os.fsencode(socket_path)) <= 100
    assert stat.S_IMODE(socket_path.parent.stat().st_mode) == 0o700
    assert_stops(instance, signal.SIGHUP)


def test_taken_port_is_refused_with_the_way_out(make_instance: MakeInstance) -> None:
    instance = make_instance(start=False)
    with socket.socket() as taken:
        taken.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        taken.bind(("127.0.0.1", int(instance.environment["PORT"])))
        taken.listen()
        refused = up(instance)
    assert refused.returncode == 1
    assert f"Port {instance.environment['PORT']} is in use" in refused.stderr
    assert "PORT=" in refused.stderr.split("Choose another", 1)[1]
    assert instance.processes() == {}


@pytest.mark.parametrize("port", ["web", "0", "70000", "-1"])
def test_port_that_is_no_number_is_refused(make_instance: MakeInstance, port: str) -> None:
    refused = up(make_instance(start=False, PORT=port))
    assert refused.returncode == 1
    assert f"PORT={port} is not a port number" in refused.stderr


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("LEARNML_WEB_WORKERS", "abc"),
        ("LEARNML_SUBMISSIONS_PER_MINUTE", "0"),
        ("DJANGO_SETTINGS_MODULE", "nope"),
        ("DATABASE_URL", "foo"),
        ("REDIS_URL", "foo"),
        ("REDIS_URL", "redis://127.0.0.1:1/0"),
    ],
)
def test_setting_that_cannot_be_used_is_named_and_nothing_is_started(
    make_instance: MakeInstance, name: str, value: str
) -> None:
    instance = make_instance(start=False, **{name: value})
    refused = up(instance)
    assert refused.returncode == 1
    assert name in refused.stderr
    assert len(refused.stderr.splitlines()) == 1, refused.stderr
    assert instance.processes() == {}


def test_production_without_its_secrets_is_refused(make_instance: MakeInstance) -> None:
    production = {"DJANGO_SETTINGS_MODULE": "learnml.settings.production"}
    refused = up(make_instance(start=False, **production))
    assert refused.returncode == 1
    assert "Production needs LEARNML_SECRET_KEY" in refused.stderr
    refused = up(make_instance(start=False, **production, LEARNML_SECRET_KEY="k" * 60))
    assert "Production needs LEARNML_ALLOWED_HOSTS" in refused.stderr


def test_queue_with_another_password_is_refused(
    make_instance: MakeInstance, redis_server: str
) -> None:
    url = redis_server.replace("redis://", "redis://someone:wrong@")
    refused = up(make_instance(start=False, REDIS_URL=url))
    assert refused.returncode == 1
    assert "cannot be used" in refused.stderr
    assert "wrong" not in refused.stderr.replace("WRONGPASS", "")


def supervise(code: str, *, is_up: bool = False) -> subprocess.CompletedProcess[str]:
    """Run one part, a Python program, under a supervisor, beside one that only sleeps.

    It goes on until the part has ended eight times, if nothing stops it sooner.
    """
    script = f"""
import sys
from learnml.supervisor import part
from learnml.supervisor.config import StartError, read_config
from learnml.supervisor.output import Output
from learnml.supervisor.processes import ProcessSpec
from learnml.supervisor.supervisor import Supervisor

part.FIRST_DELAY_SECONDS = part.LONGEST_DELAY_SECONDS = 0.01
try:
    with Supervisor(read_config(), Output(sys.stdout)) as supervisor:
        supervisor.is_up = {is_up}
        supervisor.add(ProcessSpec("other", ("sleep", "1000"), {{}}))
        supervisor.add(ProcessSpec("part", (sys.executable, "-c", {code!r}), {{}}, early=True))
        failing = supervisor._parts[1]
        while failing.ends_in_a_row < 8:
            supervisor.turn(1.0)
        print("the other runs:", supervisor.is_running("other"))
except StartError as error:
    sys.exit(str(error))
"""
    return subprocess.run(
        [str(runtime_python()), "-c", script],
        cwd=PROJECT,
        capture_output=True,
        text=True,
        timeout=PATIENCE_SECONDS,
    )


FAILS = "import sys; print('the reason'); sys.exit(3)"


def test_part_that_never_comes_up_ends_the_start_with_its_last_lines() -> None:
    ended = supervise(FAILS)
    assert ended.returncode == 1
    assert "part ended 5 times in a row soon after its start (exit code 3)" in ended.stderr
    assert "the reason" in ended.stderr
    assert ended.stdout.count("part      | the reason") == 5


def test_part_that_fails_later_leaves_the_others_alone_and_is_tried_again() -> None:
    ended = supervise(FAILS, is_up=True)
    assert ended.returncode == 0, ended.stderr
    assert "the other runs: True" in ended.stdout
    assert "part ended 8 times in a row soon after its start (exit code 3)" in ended.stdout
    assert "Its last lines:\n  the reason\n" in ended.stdout
    assert "The others go on; trying again in" in ended.stdout


def test_pauses_grow_to_a_minute(tmp_path: Path) -> None:
    watchdog = Watchdog()
    part = Part(ProcessSpec("part", ("true",), {}), tmp_path, watchdog)
    delays = [part.plan_restart(now=1.0, code=1) for _ in range(10)]
    assert delays == [0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 60.0, 60.0, 60.0]
    # One that goes for half a minute before it ends is no better.
    assert [part.plan_restart(now=30.0, code=1), part.plan_restart(now=59.0, code=1)] == [60.0] * 2
    assert part.plan_restart(now=61.0, code=1) == 0.5
    watchdog.dismiss()


def test_only_ends_of_its_own_soon_after_each_start_count_as_failing(tmp_path: Path) -> None:
    watchdog = Watchdog()
    part = Part(ProcessSpec("part", ("true",), {}), tmp_path, watchdog)
    for _ in range(10):
        part.plan_restart(now=1.0, code=-signal.SIGKILL)
    assert not part.is_failing, "what kills it is outside of it, and may go away"
    for _ in range(4):
        part.plan_restart(now=1.0, code=1)
    part.plan_restart(now=3600.0, code=1)
    assert not part.is_failing, "it was well in between"
    for _ in range(4):
        part.plan_restart(now=1.0, code=1)
    assert part.is_failing
    watchdog.dismiss()


def test_a_log_on_a_full_disk_costs_lines_and_nothing_else() -> None:
    went_on = False
    with suppress(OSError), Path("/dev/full").open("w") as full:
        output = Output(full)
        output.say("nobody reads this")
        output.part("web", "nor this")
        went_on = True
    assert went_on


def test_data_folder_that_cannot_be_made_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    refused = up(Instance(tmp_path / "file" / "data"))
    assert refused.returncode == 1
    assert "LEARNML_DATA=" in refused.stderr
    assert "Traceback" not in refused.stderr


def test_failing_preparation_starts_nothing(make_instance: MakeInstance) -> None:
    instance = make_instance(start=False, DATABASE_URL="postgres://nobody@127.0.0.1:1/nothing")
    refused = up(instance)
    assert refused.returncode == 1
    assert "could not be prepared" in refused.stderr
    assert instance.processes() == {}


def test_output_that_nobody_reads_stops_everything(make_instance: MakeInstance) -> None:
    """As in `./run | head`: no part may live on unseen."""
    instance = make_instance(start=False)
    process = subprocess.Popen(
        [str(runtime_python()), "manage.py", "up"],
        cwd=PROJECT,
        env=instance.environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
    try:
        assert process.stdout is not None
        process.stdout.readline()
        process.stdout.close()
        process.wait(PATIENCE_SECONDS)
    finally:
        process.kill()
    wait_for(lambda: not instance.processes(), PATIENCE_SECONDS, "no process")


def test_argument_that_is_unknown_is_refused() -> None:
    refused = subprocess.run(
        [str(runtime_python()), "manage.py", "up", "--fast"],
        cwd=PROJECT,
        capture_output=True,
        text=True,
    )
    assert refused.returncode == 2
    assert "Unknown argument: --fast" in refused.stderr
