"""docker-compose.yml: valid, the same commands as `./run`, and no secret where none belongs.

No container engine runs here; what can be checked without one is checked.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml

from learnml.supervisor import processes
from tests.platform.instance import PROJECT

SCHEMA = Path(__file__).with_name("vendor") / "compose_spec.json"
COMMANDS = {
    "prepare": processes.PREPARE_COMMAND,
    "web": processes.WEB_COMMAND,
    "control": processes.CONTROL_COMMAND,
    "scheduler": processes.SCHEDULER_COMMAND,
    "worker-cpu": processes.WORKER_CPU_COMMAND,
    "worker-gpu": processes.WORKER_GPU_COMMAND,
}
SITE = ("prepare", "web", "control", "scheduler")
WORKERS = ("worker-cpu", "worker-gpu")


@pytest.fixture(scope="module")
def compose() -> dict[str, Any]:
    data = yaml.safe_load((PROJECT / "docker-compose.yml").read_text())
    assert isinstance(data, dict)
    return data


@pytest.fixture(scope="module")
def services(compose: dict[str, Any]) -> dict[str, Any]:
    services = compose["services"]
    assert isinstance(services, dict)
    return services


def test_file_follows_the_compose_specification(compose: dict[str, Any]) -> None:
    schema = json.loads(SCHEMA.read_text())
    # The schema is older than the top-level name.
    checked = {name: value for name, value in compose.items() if name != "name"}
    jsonschema.Draft201909Validator(schema).validate(checked)


def test_schema_finds_mistakes(compose: dict[str, Any]) -> None:
    schema = json.loads(SCHEMA.read_text())
    wrong = {"services": {"web": {**compose["services"]["web"], "comand": ["x"]}}}
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.Draft201909Validator(schema).validate(wrong)


@pytest.mark.parametrize("name", COMMANDS)
def test_commands_are_those_of_the_supervisor(services: dict[str, Any], name: str) -> None:
    assert tuple(services[name]["command"]) == COMMANDS[name]


def test_every_part_of_the_supervisor_has_a_service(services: dict[str, Any]) -> None:
    assert set(services) == {*COMMANDS, "postgres", "redis", "cache"}


@pytest.mark.parametrize("name", WORKERS)
def test_worker_knows_the_queue_and_nothing_else(services: dict[str, Any], name: str) -> None:
    worker = services[name]
    allowed = {"REDIS_URL", "LEARNML_WORKER_KEY", "LEARNML_LOG_FORMAT"}
    assert set(worker["environment"]) == allowed
    assert worker["networks"] == ["queue"]
    assert "volumes" not in worker
    assert "env_file" not in worker


def test_queue_and_database_cannot_reach_the_world(
    compose: dict[str, Any], services: dict[str, Any]
) -> None:
    assert compose["networks"]["queue"]["internal"] is True
    assert compose["networks"]["database"]["internal"] is True
    assert services["redis"]["networks"] == ["queue"]
    assert services["postgres"]["networks"] == services["cache"]["networks"] == ["database"]


def test_gpu_worker_starts_only_when_asked(services: dict[str, Any]) -> None:
    assert services["worker-gpu"]["profiles"] == ["gpu"]
    assert not [n for n, s in services.items() if "profiles" in s and n != "worker-gpu"]


def test_secrets_come_from_outside_and_are_required() -> None:
    text = (PROJECT / "docker-compose.yml").read_text()
    for name in ("SECRET_KEY", "DATABASE_PASSWORD", "QUEUE_PASSWORD", "ALLOWED_HOSTS"):
        uses = re.findall(rf"\$\{{LEARNML_{name}(.)", text)
        assert uses, name
        assert set(uses) == {":"}, f"{name} must be required with :?"
        assert not re.search(rf"\$\{{LEARNML_{name}:[^?]", text)


def test_example_environment_names_every_variable_and_no_secret() -> None:
    text = (PROJECT / "docker-compose.yml").read_text()
    used = set(re.findall(r"(?<!\$)\$\{(\w+)", text))
    example = dict(
        line.split("=", 1)
        for line in (PROJECT / "deploy" / "env.example").read_text().splitlines()
        if line and not line.startswith("#")
    )
    assert used == set(example)
    assert [n for n, v in example.items() if v and ("KEY" in n or "PASSWORD" in n)] == []


@pytest.mark.parametrize("name", SITE)
def test_site_uses_production_settings(services: dict[str, Any], name: str) -> None:
    assert services[name]["environment"]["DJANGO_SETTINGS_MODULE"] == "learnml.settings.production"


@pytest.mark.parametrize("name", ["web", "control", "scheduler"])
def test_site_waits_for_the_migrated_database(services: dict[str, Any], name: str) -> None:
    needs = services[name]["depends_on"]
    assert needs["prepare"]["condition"] == "service_completed_successfully"
    assert needs["redis"]["condition"] == "service_healthy"


@pytest.mark.parametrize("name", ["web", "control", "postgres", "redis", *WORKERS])
def test_service_has_a_health_check(services: dict[str, Any], name: str) -> None:
    assert services[name]["healthcheck"]["test"]


@pytest.mark.parametrize("name", [*SITE, *WORKERS])
def test_service_runs_with_few_rights(services: dict[str, Any], name: str) -> None:
    service = services[name]
    assert service["read_only"] is True
    assert service["cap_drop"] == ["ALL"]
    options = set(service["security_opt"])
    assert "no-new-privileges:true" in options
    # What the sandbox needs instead of a capability, and only where it runs.
    sandbox = {"seccomp=./deploy/seccomp-worker.json", "apparmor=unconfined"}
    # A run with a device mounts a /proc of its own, which masked paths of the container's forbid.
    device = {"systempaths=unconfined"} if name == "worker-gpu" else set()
    wanted = sandbox | device if name in WORKERS else set()
    assert options - {"no-new-privileges:true"} == wanted
    assert "privileged" not in service
    assert "cap_add" not in service


def test_web_is_published_to_this_machine_only(services: dict[str, Any]) -> None:
    assert [n for n, s in services.items() if "ports" in s] == ["web"]
    assert all(port.startswith("127.0.0.1:") for port in services["web"]["ports"])
