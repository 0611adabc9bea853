"""`./run` on machines that lack things, with stand-ins for Python and an empty lock."""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from tests.platform.instance import PROJECT

REAL_PYTHON = sys._base_executable  # type: ignore[attr-defined]  # not the virtual environment's
TOOLS = ("sh", "dirname", "cat", "cmp", "cp", "rm", "find", "grep", "ls", "sed", "flock", "env")


@pytest.fixture(scope="module")
def quick_python(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The real Python, except that a virtual environment is a copy of one made before."""
    folder = tmp_path_factory.mktemp("python")
    made = folder / "made"
    subprocess.run([REAL_PYTHON, "-m", "venv", str(made)], check=True)
    return stand_in(
        folder / "python-quick",
        f'if [ "$1 $2" = "-m venv" ]; then cp -a "{made}" "$3"; else exec "{REAL_PYTHON}" "$@"; fi',
    )


@pytest.fixture
def checkout(tmp_path: Path, quick_python: str, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A checkout with `run`, an empty lock, and a manage.py that says how it was called."""
    monkeypatch.setenv("LEARNML_PYTHON", quick_python)
    folder = tmp_path / "a checkout"
    (folder / "requirements").mkdir(parents=True)
    shutil.copy(PROJECT / "run", folder)
    (folder / "requirements" / "site.txt").write_text("# nothing\n")
    (folder / "manage.py").write_text("import sys\nprint('manage', *sys.argv[1:])\n")
    return folder


def run(
    checkout: Path, *arguments: str, cwd: Path | None = None, **environment: str
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [str(checkout / "run"), *arguments],
        cwd=cwd or checkout,
        env={
            **os.environ,
            "PIP_NO_INDEX": "1",
            "CI": "true",
            **environment,
        },
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=180,
    )


def stand_in(path: Path, script: str) -> str:
    """Make an executable shell script."""
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)
    return str(path)


def old_python(folder: Path) -> str:
    return stand_in(folder / "python-old", "echo 3.9.2 0")


def bare_python(folder: Path) -> str:
    """New enough, but as Debian ships it without python3-venv."""
    script = 'case "$2" in *ensurepip*) exit 1 ;; *) echo 3.11.2 1 ;; esac'
    return stand_in(folder / "python-bare", script)


@pytest.mark.parametrize("shell", ["dash", "sh"])
def test_script_is_accepted_by_the_shell(shell: str) -> None:
    for script in ("run", ".ci/run"):
        subprocess.run([shell, "-n", script], cwd=PROJECT, check=True)


def test_script_uses_nothing_that_only_bash_has() -> None:
    bashisms = (
        r"\[\[|\blocal\b|\bfunction\b|\bsource\b|<<<|&>|\bdeclare\b|\$\{\w+[,^]|==|\bpipefail\b"
    )
    for number, line in enumerate((PROJECT / "run").read_text().splitlines(), 1):
        code = re.sub(r"(^|\s)#.*|\"==> .*", "", line)
        assert not re.search(bashisms, code), f"run:{number}: {line}"


def test_integration_runs_what_developers_run() -> None:
    text = (PROJECT / ".ci" / "run").read_text()
    assert "exec ./run test" in text
    assert os.access(PROJECT / ".ci" / "run", os.X_OK)
    assert os.access(PROJECT / "run", os.X_OK)


def test_first_run_installs_and_the_next_does_not(checkout: Path, tmp_path: Path) -> None:
    first = run(checkout, cwd=tmp_path)
    assert first.returncode == 0, first.stderr
    assert "Installing the packages of requirements/site.txt" in first.stderr
    assert first.stdout == "manage up\n"
    again = run(checkout)
    assert again.stdout == "manage up\n"
    assert "Installing" not in again.stderr


def test_what_pip_writes_is_shown_only_when_it_fails(
    checkout: Path, tmp_path: Path, quick_python: str
) -> None:
    """pip warns of places and caches, in dozens of lines, while all goes well."""
    pip = tmp_path / "pip"
    stand_in(pip, "echo 'WARNING: Location /x may be ignored'; exit $(cat pip-exits-with)")
    python = stand_in(
        tmp_path / "python-chatty",
        f'"{quick_python}" "$@"; code=$?\n'
        f'if [ "$1 $2" = "-m venv" ]; then rm "$3/bin/python"; cp "{pip}" "$3/bin/python"; fi\n'
        "exit $code",
    )
    (checkout / "pip-exits-with").write_text("0\n")
    quiet = run(checkout, LEARNML_PYTHON=python)
    assert "Installing" in quiet.stderr
    assert "WARNING" not in quiet.stderr
    assert not list(checkout.glob(".venv.log"))
    (checkout / "requirements" / "site.txt").write_text("# another\n")
    (checkout / "pip-exits-with").write_text("1\n")
    failed = run(checkout, LEARNML_PYTHON=python)
    assert failed.returncode == 1
    assert "WARNING: Location /x may be ignored" in failed.stderr
    assert "could not be installed" in failed.stderr


def test_changed_lock_is_installed_anew(checkout: Path) -> None:
    run(checkout)
    (checkout / ".venv" / "left-over").write_text("")
    (checkout / "requirements" / "site.txt").write_text("# another\n")
    assert "Installing" in run(checkout).stderr
    assert not (checkout / ".venv" / "left-over").exists()


def test_another_python_is_installed_anew(checkout: Path) -> None:
    run(checkout)
    (checkout / ".venv" / "python-version.txt").write_text("Python 3.11.1\n")
    assert "Installing" in run(checkout).stderr


def test_interrupted_installation_is_done_again(checkout: Path) -> None:
    (checkout / ".venv" / "bin").mkdir(parents=True)
    (checkout / ".venv" / "half-installed").write_text("")
    result = run(checkout)
    assert result.stdout == "manage up\n"
    assert not (checkout / ".venv" / "half-installed").exists()


def test_failed_installation_is_said_and_done_again(checkout: Path) -> None:
    lock = checkout / "requirements" / "site.txt"
    lock.write_text(f"no-such-package==1.0 --hash=sha256:{'0' * 64}\n")
    failed = run(checkout)
    assert failed.returncode == 1
    assert "could not be installed" in failed.stderr
    assert failed.stdout == ""
    assert "Installing" in run(checkout).stderr, "a failed installation must not look complete"


def wheel(folder: Path) -> Path:
    """Make the smallest wheel there is, of a package `thing`."""
    path = folder / "thing-1.0-py3-none-any.whl"
    info = "thing-1.0.dist-info"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("thing.py", "NAME = 'thing'\n")
        archive.writestr(f"{info}/METADATA", "Metadata-Version: 2.1\nName: thing\nVersion: 1.0\n")
        archive.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\n")
        archive.writestr(f"{info}/RECORD", "")
    return path


def test_locked_package_is_installed(checkout: Path, tmp_path: Path) -> None:
    digest = hashlib.sha256(wheel(tmp_path).read_bytes()).hexdigest()
    lock = checkout / "requirements" / "site.txt"
    lock.write_text(f"thing==1.0 --hash=sha256:{digest}\n")
    (checkout / "manage.py").write_text("import thing\nprint(thing.NAME)\n")
    assert run(checkout, PIP_FIND_LINKS=str(tmp_path)).stdout == "thing\n"


@pytest.mark.parametrize("pin", ["thing==1.0", f"thing==1.0 --hash=sha256:{'0' * 64}"])
def test_package_that_does_not_match_its_hash_is_refused(
    checkout: Path, tmp_path: Path, pin: str
) -> None:
    wheel(tmp_path)
    (checkout / "requirements" / "site.txt").write_text(f"{pin}\n")
    failed = run(checkout, PIP_FIND_LINKS=str(tmp_path))
    assert failed.returncode == 1
    assert "hash" in failed.stderr.lower()


def test_old_python_is_named(checkout: Path, tmp_path: Path) -> None:
    refused = run(checkout, LEARNML_PYTHON=old_python(tmp_path))
    assert refused.returncode == 1
    assert "needs Python 3.11.2 or newer" in refused.stderr
    assert "python-old (3.9.2)" in refused.stderr
    assert not (checkout / ".venv").exists()


def test_python_without_venv_is_named_with_the_package(checkout: Path, tmp_path: Path) -> None:
    refused = run(checkout, LEARNML_PYTHON=bare_python(tmp_path))
    assert refused.returncode == 1
    assert "apt-get install python3-venv" in refused.stderr
    assert "python-bare (3.11.2)" in refused.stderr


def test_missing_python_is_said(checkout: Path) -> None:
    refused = run(checkout, LEARNML_PYTHON="no-such-python")
    assert refused.returncode == 1
    assert "apt-get install python3 python3-venv" in refused.stderr


def test_later_python_is_taken_where_the_first_cannot_make_environments(
    checkout: Path, tmp_path: Path
) -> None:
    pythons = f"{old_python(tmp_path)} {bare_python(tmp_path)} {os.environ['LEARNML_PYTHON']}"
    assert run(checkout, LEARNML_PYTHON=pythons).stdout == "manage up\n"


def test_arguments_reach_the_supervisor(checkout: Path) -> None:
    assert run(checkout, "--anything").stdout == "manage up --anything\n"


def test_help_needs_no_python(checkout: Path) -> None:
    shown = run(checkout, "--help", LEARNML_PYTHON="no-such-python")
    assert shown.returncode == 0
    for tier in ("./run test quick", "./run test --long", "./run test ARGS"):
        assert tier in shown.stdout


def bare_machine(tmp_path: Path, **programs: str) -> str:
    """Return a PATH with the basic tools and the given stand-ins only."""
    folder = tmp_path / "bin"
    folder.mkdir()
    for name in TOOLS:
        if found := shutil.which(name):
            (folder / name).symlink_to(found)
    for name, script in programs.items():
        stand_in(folder / name.replace("_", "-"), script)
    return str(folder)


def test_tests_without_rights_name_the_exact_command(checkout: Path, tmp_path: Path) -> None:
    path = bare_machine(tmp_path, id="echo 1000", apt_get="exit 0", sudo="exit 1")
    refused = run(checkout, "test", PATH=path)
    assert refused.returncode == 1
    command = re.search(r"apt-get install -y --no-install-recommends (.+)", refused.stderr)
    assert command is not None, refused.stderr
    named = set(command.group(1).split())
    assert {"chromium", "redis-server", "bubblewrap", "nodejs", "npm"} <= named


def test_tests_install_packages_as_root(checkout: Path, tmp_path: Path) -> None:
    path = bare_machine(tmp_path, id="echo 0", apt_get='echo "apt-get $*"; exit 0')
    result = run(checkout, "test", PATH=path, LEARNML_PYTHON="no-such-python")
    assert "apt-get update" in result.stderr
    assert "apt-get install -y --no-install-recommends chromium" in result.stderr


def test_failing_package_installation_ends_the_tests(checkout: Path, tmp_path: Path) -> None:
    path = bare_machine(tmp_path, id="echo 0", apt_get="echo no network; exit 100")
    refused = run(checkout, "test", PATH=path)
    assert refused.returncode == 1
    assert "no network" in refused.stderr
    assert "By hand, as root: apt-get install" in refused.stderr


# --- all the tests, with stand-ins for the tools --------------------------------------------------
PYTHON = """case "$*" in
-V) echo "Python 3.11.2" ;;
*tests.platform.postgres*) eval "$POSTGRES" ;;
*pytest*) eval "$PYTEST" ;;
*secrets*) echo a-secret ;;
esac"""


@pytest.fixture
def with_tools(checkout: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A checkout whose environments are up to date and whose tools do as variables say."""
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    for environment, lock in ((".venv", "site.txt"), (".venv-test", "test.txt")):
        tools = checkout / environment / "bin"
        tools.mkdir(parents=True)
        (checkout / "requirements" / lock).write_text("# nothing\n")
        shutil.copy(checkout / "requirements" / lock, tools.parent / "lock.txt")
        (tools.parent / "python-version.txt").write_text("Python 3.11.2\n")
        stand_in(tools / "python", PYTHON)
    for name in ("ruff", "djlint", "lint-imports", "clang-format", "shellcheck", "shfmt"):
        stand_in(tools / name, "exit 0")
    node_tools = checkout / "node_modules" / ".bin"
    node_tools.mkdir(parents=True)
    (checkout / "package-lock.json").write_text("{}\n")
    (checkout / "node_modules" / "lock.json").write_text("{}\n")
    stand_in(node_tools / "biome", 'eval "${BIOME:-exit 0}"')
    stand_in(tools / "mypy", 'eval "$MYPY"')
    monkeypatch.setenv("PYTEST", "echo tests ended")
    monkeypatch.setenv("POSTGRES", "echo with PostgreSQL as well")
    monkeypatch.setenv("MYPY", "echo no type is wrong")
    return checkout


def left_over(tmp_path: Path) -> list[Path]:
    """What the run put into the folder for temporary files."""
    return list(tmp_path.glob("tmp.*"))


def test_what_ran_beside_the_tests_is_shown_after_them(with_tools: Path, tmp_path: Path) -> None:
    done = run(with_tools, "test")
    assert done.returncode == 0, done.stderr
    assert done.stdout == "tests ended\n"
    assert "no type is wrong" in done.stderr
    assert "with PostgreSQL as well" in done.stderr
    assert left_over(tmp_path) == []


SAY_ARGUMENTS = "echo $*"


def test_only_what_is_marked_long_is_left_out_of_the_usual_run(with_tools: Path) -> None:
    done = run(with_tools, "test", PYTEST=SAY_ARGUMENTS, POSTGRES=SAY_ARGUMENTS)
    assert done.returncode == 0, done.stderr
    assert selections(done.stdout) == ["-m not long"]
    assert "--hypothesis-profile=fewer" in done.stdout
    (repeated,) = [line for line in done.stderr.splitlines() if line.startswith("-m tests")]
    assert "-m postgres and not long" in repeated


def test_before_a_release_nothing_is_left_out(with_tools: Path) -> None:
    done = run(with_tools, "test", "--long", PYTEST=SAY_ARGUMENTS, POSTGRES=SAY_ARGUMENTS)
    assert done.returncode == 0, done.stderr
    assert selections(done.stdout) == []
    assert "--hypothesis-profile=full" in done.stdout
    (repeated,) = [line for line in done.stderr.splitlines() if line.startswith("-m tests")]
    assert "-m not browser and not services" in repeated
    assert "--hypothesis-profile=full" in repeated
    assert "no type is wrong" in done.stderr


def test_the_quick_run_takes_neither_services_nor_what_is_long(with_tools: Path) -> None:
    done = run(with_tools, "test", "quick", PYTEST=SAY_ARGUMENTS)
    assert done.returncode == 0, done.stderr
    (left,) = selections(done.stdout)
    assert left == "-m not long and not browser and not services"
    assert "--quick" in done.stdout.split()
    assert "no type is wrong" not in done.stderr


@pytest.mark.parametrize("arguments", [["tests/platform"], ["-x", "quick"], ["--long", "-x"]])
def test_other_arguments_are_pytests(with_tools: Path, arguments: list[str]) -> None:
    done = run(with_tools, "test", *arguments, PYTEST=SAY_ARGUMENTS)
    assert done.stdout == f"-m pytest {' '.join(arguments)}\n"


def selections(command: str) -> list[str]:
    """Return which options of a command of pytest leave tests out."""
    words = command.removeprefix("-m pytest ").split(" -")
    options = [f"-{word.removeprefix('-').strip()}" for word in words]
    left_out = ("-m ", "-k ", "-ignore", "-deselect", "-quick", "-database-only")
    found = [option for option in options if option.startswith(left_out)]
    return [option for option in found if option != "-quick"]


@pytest.mark.parametrize(("tool", "name"), [("MYPY", "types"), ("POSTGRES", "PostgreSQL")])
def test_what_fails_beside_the_tests_fails_the_run(
    with_tools: Path, tmp_path: Path, tool: str, name: str
) -> None:
    failed = run(with_tools, "test", **{tool: "echo the reason; exit 3"})
    assert failed.returncode == 1
    assert failed.stdout == "tests ended\n"
    assert "the reason" in failed.stderr
    assert failed.stderr.splitlines()[-1] == f"Failed: {name}"
    assert left_over(tmp_path) == []


def test_a_script_that_is_not_formatted_fails_the_run(with_tools: Path) -> None:
    failed = run(with_tools, "test", BIOME="echo quiz.js is not formatted; exit 1")
    assert failed.returncode == 1
    assert "quiz.js is not formatted" in failed.stdout
    assert "tests ended" not in failed.stdout


def test_tools_of_node_are_installed_where_their_lock_is_another(
    with_tools: Path, tmp_path: Path
) -> None:
    (with_tools / "package-lock.json").write_text('{"another": true}\n')
    programs = tmp_path / "programs"
    programs.mkdir()
    stand_in(programs / "npm", 'echo "npm $*" >&2; mkdir -p node_modules')
    installed = run(with_tools, "test", PATH=f"{programs}:{os.environ['PATH']}")
    assert installed.returncode == 0, installed.stderr
    assert "npm ci --ignore-scripts" in installed.stderr
    again = run(with_tools, "test", PATH=f"{programs}:{os.environ['PATH']}")
    assert "npm ci" not in again.stderr


def test_failed_tests_end_what_runs_beside_them(with_tools: Path, tmp_path: Path) -> None:
    waits = f"echo $$ > '{tmp_path}/pid'; exec sleep 100"
    fails = f"while ! [ -s '{tmp_path}/pid' ]; do sleep 0.01; done; exit 5"
    failed = run(with_tools, "test", POSTGRES=waits, PYTEST=fails)
    assert failed.returncode == 5
    pid = int((tmp_path / "pid").read_text())
    assert not Path(f"/proc/{pid}").exists()
    assert left_over(tmp_path) == []
