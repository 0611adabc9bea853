"""A disk that is full: pages go on, nothing is promised, and all comes back with room."""

from __future__ import annotations

import os
import pwd
import re
import shlex
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest

from learnml.health import FIND_ROOM_IN_POSTGRESQL
from tests.platform.client import Client, chapter_listing
from tests.platform.instance import PATIENCE_SECONDS, Instance, free_port, wait_for
from tests.platform.postgres import USER, as_server_user, program

pytestmark = pytest.mark.services

DISK_MEGABYTES = 160


class OnSmallDisk(Instance):
    """An instance that alone sees a small disk in the place of its data folder."""

    def command(self) -> list[str]:
        user = [] if os.getuid() == 0 else ["--map-root-user"]
        mount = (
            f'mount -t tmpfs -o size={DISK_MEGABYTES}m,mode=0700 none "$0" && '
            'cp -a "$1/." "$0/" && shift && exec "$@"'
        )
        seed = self.data_dir.with_name("seed")
        return [
            *("unshare", "--mount", *user, "sh", "-c", mount, str(self.data_dir), str(seed)),
            *super().command(),
        ]

    @property
    def disk(self) -> Path:
        """The data folder as the instance sees it."""
        pid = self.part_pid("web")
        assert pid is not None
        return Path(f"/proc/{pid}/root{self.data_dir}")

    def fill_disk(self) -> None:
        subprocess.run(
            ["dd", "if=/dev/zero", f"of={self.disk}/filler", "bs=64k"],
            capture_output=True,
            check=False,
        )

    def make_room(self) -> None:
        (self.disk / "filler").unlink()


@pytest.fixture
def instance(prepared_data: Path, tmp_path: Path) -> Iterator[OnSmallDisk]:
    instance = OnSmallDisk(tmp_path / "data", LEARNML_STATIC_ROOT=str(prepared_data / "static"))
    instance.data_dir.mkdir()
    seed = tmp_path / "seed"
    subprocess.run(["cp", "-a", str(prepared_data), str(seed)], check=True)
    subprocess.run(["rm", "-rf", str(seed / "static")], check=True)
    instance.start().wait_until_ready()
    try:
        yield instance
    finally:
        instance.end()


def test_pages_go_on_and_all_comes_back_with_room(instance: OnSmallDisk) -> None:
    instance.wait_until_graders_work()
    client = Client(instance.base_url, "learner")
    first = client.submit(chapter_listing())
    assert client.verdict(first)["outcome"] == "accepted"
    web = instance.part_pid("web")

    instance.fill_disk()
    wait_for(
        lambda: instance.ready_report().get("ready") is False, PATIENCE_SECONDS, "not to be ready"
    )
    assert instance.ready_report()["database"] == "read only"
    for path in ("/", "/exercises/rmsnorm/"):
        assert instance.get(path)[0] == 200, path
    assert client.call("GET", f"submissions/{first}/")["outcome"] == "accepted"
    with pytest.raises(AssertionError, match=r"submissions/: 503 "):
        client.submit(chapter_listing())
    # The queue cannot go on; its end is no reason for others to end.
    wait_for(
        lambda: re.search(r"queue ended .*(starting it|trying) again", instance.output()),
        PATIENCE_SECONDS,
        "the queue to be tried again",
    )
    assert instance.part_pid("web") == web
    assert re.search(r"^queue +\| .*(AOF|No space left)", instance.output(), re.MULTILINE), (
        "It has said why."
    )

    instance.make_room()
    wait_for(
        lambda: instance.ready_report().get("ready"),
        2 * PATIENCE_SECONDS,
        f"to be ready again:\n{instance.output()[-2000:]}",
    )
    assert client.verdict(client.submit(chapter_listing()))["outcome"] == "accepted"
    assert instance.part_pid("web") == web


@pytest.fixture
def full_postgres() -> Iterator[str]:
    """The address of a PostgreSQL whose disk is full."""
    port = free_port()
    # Not in pytest's folder, which the server's user may not enter.
    folder = tempfile.mkdtemp(prefix="learnml-postgres-")
    as_root = os.getuid() == 0
    space = [] if as_root else ["--user", "--map-current-user", "--keep-caps"]
    options = f"-p {port} -c listen_addresses=127.0.0.1 -k {folder} -c fsync=off"
    owner = f",uid={pwd.getpwnam(USER).pw_uid}" if as_root else ""
    programs = ("initdb", "pg_ctl", "psql")
    initdb, pg_ctl, psql = (shlex.join(as_server_user(program(name))) for name in programs)
    script = f"""
set -e
exec 3>&1 1>&2
mount -t tmpfs -o size=120m,mode=0700{owner} none {folder}
cd {folder}
{initdb} -D {folder}/data -U learnml -A trust --no-sync
{pg_ctl} start -D {folder}/data -w -t 120 -l {folder}/log -o "{options}"
{psql} -h {folder} -p {port} -U learnml postgres -c "SELECT 1"
dd if=/dev/zero of={folder}/filler bs=64k || true
echo full >&3
read end || true
{pg_ctl} stop -D {folder}/data -m immediate
"""
    process = subprocess.Popen(
        ["unshare", "--mount", *space, "sh", "-c", script],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        assert process.stdout.readline() == "full\n"
        yield f"postgres://learnml@127.0.0.1:{port}/postgres"
    finally:
        process.stdin.close()
        process.wait(PATIENCE_SECONDS)
        Path(folder).rmdir()


def test_a_postgresql_that_cannot_grow_is_found_not_to_be_ready(full_postgres: str) -> None:
    def find_room(connection: psycopg.Connection[Any]) -> None:
        for statement in FIND_ROOM_IN_POSTGRESQL:
            connection.execute(statement)

    with psycopg.connect(full_postgres) as connection:
        # Without having to grow it does all that it is told.
        connection.execute("SELECT txid_current()")
        connection.commit()
        with pytest.raises(psycopg.errors.DiskFull):
            find_room(connection)
