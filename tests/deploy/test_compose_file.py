"""compose.yaml has the same settings for every service: user, limits and health check."""

from typing import Any

import yaml

from tests.deploy.chart import DEPLOYMENTS
from tests.harness.system import ROOT

COMPOSE: Any = yaml.safe_load((ROOT / "compose.yaml").read_text())
OURS = (*DEPLOYMENTS, "migrate")
# Both parts of webhooks are one program with the same secrets.
SECRETS_OF = {"webhooks-log": "webhooks", "webhooks-dispatch": "webhooks"}


def test_every_service_is_bounded_watched_and_restarted() -> None:
    """Health check, limits, restart rule, and time to drain."""
    for name in DEPLOYMENTS:
        service = COMPOSE["services"][name]
        assert service["healthcheck"]["test"][-1] == "/studio/healthcheck.py", name
        assert set(service["deploy"]["resources"]["limits"]) == {"cpus", "memory", "pids"}, name
        assert service["restart"] == "unless-stopped", name
        assert service["stop_grace_period"] == "40s", name
        assert service["depends_on"]["migrate"] == {"condition": "service_completed_successfully"}, name


def test_nothing_of_ours_can_write_or_gain_rights() -> None:
    """Read-only root, no capabilities."""
    for name in OURS:
        service = COMPOSE["services"][name]
        assert service["read_only"] and service["cap_drop"] == ["ALL"], name
        assert service["security_opt"] == ["no-new-privileges:true"], name


def test_each_service_runs_as_a_user_of_its_own() -> None:
    """So that it cannot read the others' secrets."""
    users = {SECRETS_OF.get(name, name): COMPOSE["services"][name]["user"] for name in OURS}
    assert len(set(users.values())) == len(users) == len(OURS) - 1
    assert not any(user.startswith("0") for user in users.values())
    webhooks = [COMPOSE["services"][name]["user"] for name in SECRETS_OF]
    assert webhooks == [users["webhooks"]] * 2


def test_each_service_is_given_its_own_secrets_only() -> None:
    """Every secret comes as a file out of its own folder."""
    for name in OURS:
        files = {
            variable: value
            for variable, value in COMPOSE["services"][name]["environment"].items()
            if variable.endswith("_FILE")
        }
        folder = f"/run/studio/{SECRETS_OF.get(name, name)}/"
        assert files and all(value.startswith(folder) for value in files.values())


def test_only_the_gateway_is_published_and_only_the_dispatcher_goes_out() -> None:
    """Everything else is on an internal network."""
    services = COMPOSE["services"]
    assert COMPOSE["networks"]["inside"] == {"internal": True}
    everyday = {name: service for name, service in services.items() if "profiles" not in service}
    assert [name for name, service in everyday.items() if service.get("ports")] == ["gateway"]
    assert [name for name, service in everyday.items() if "outside" in service.get("networks", ())] == [
        "webhooks-dispatch"
    ]


def test_event_log_and_dispatcher_are_scaled_apart_and_requests_reach_the_log() -> None:
    """`--scale webhooks-dispatch=3` adds senders only; the gateway's address for webhooks stays."""
    services = COMPOSE["services"]
    commands = {name: services[name]["command"] for name in ("webhooks-log", "webhooks-dispatch")}
    assert commands == {
        "webhooks-log": ["serve", "webhooks", "--only", "log"],
        "webhooks-dispatch": ["serve", "webhooks", "--only", "dispatch"],
    }
    assert services["gateway"]["environment"]["STUDIO_WEBHOOKS_URL"] == "http://webhooks:8080"
    assert services["webhooks-log"]["networks"] == {"inside": {"aliases": ["webhooks"]}}
    assert "webhooks" not in services
