"""Compose, both overlays and the chart give each service its own broker user, from one table."""

import copy
import importlib.util
import json
import os
from pathlib import Path
from types import ModuleType
from urllib.parse import urlsplit

import aio_pika
import pytest
import yaml
from aio_pika.exceptions import ProbableAuthenticationError

from shared.events.bus.topology import PERMISSIONS
from tests.deploy.chart import CHART, values
from tests.deploy.generated import stale_broker_users
from tests.deploy.manifests import named, overlay
from tests.deploy.templates import rendered
from tests.harness.servers import Rabbit
from tests.harness.system import ROOT

SERVICE_OF = {"webhooks-log": "webhooks", "webhooks-dispatch": "webhooks"}


def test_generated_users_are_those_of_the_table() -> None:
    """Overlays and chart; a service that is allowed more somewhere would not be noticed otherwise."""
    assert stale_broker_users() == []
    users = json.loads((ROOT / "deploy/kubernetes/overlays/development/definitions.json").read_text())
    assert [each["name"] for each in users["users"]] == [f"studio_{service}" for service in PERMISSIONS]


def test_every_deployment_in_production_logs_in_as_its_own_user() -> None:
    """With the credentials that the topology operator writes for that service."""
    found = overlay("production")
    assert set(named(found, "User")) == set(named(found, "Permission"))
    for name, deployment in named(found, "Deployment").items():
        container = deployment["spec"]["template"]["spec"]["containers"][0]
        secrets = {
            each["valueFrom"]["secretKeyRef"]["name"]
            for each in container.get("env", ())
            if each["name"].startswith("BROKER_")
        }
        user = f"studio-broker-{SERVICE_OF.get(name, name)}"
        assert secrets == (set() if name == "gateway" else {f"{user}-user-credentials"})
        assert name == "gateway" or user in named(found, "User")


def test_the_chart_can_still_use_one_user_for_all() -> None:
    """For clusters without the topology operator, and for those that change later."""
    shared = copy.deepcopy(values("production"))
    shared["settings"]["STUDIO_BROKER_USERS"] = "shared"
    made = [each for each in yaml.safe_load_all(rendered(CHART, "studio", shared)) if each]
    assert named(made, "User") == named(made, "Permission") == {}
    [url] = named(made, "Deployment")["forms"]["spec"]["template"]["spec"]["containers"][0]["env"]
    assert url["valueFrom"]["secretKeyRef"]["name"] == "studio-broker-default-user"


@pytest.fixture
def make_secrets(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """Compose's script, writing below a temporary folder. Only root may give files away."""
    spec = importlib.util.spec_from_file_location("make_secrets", ROOT / "deploy/compose/make_secrets.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    module.FOLDER, module.BROKER = tmp_path / "secrets", tmp_path / "broker"  # type: ignore[attr-defined]
    (tmp_path / "secrets").mkdir()
    (tmp_path / "broker").mkdir()
    monkeypatch.setattr(os, "chown", lambda *_: None)
    return module


async def test_the_users_that_compose_creates_can_log_in_and_keep_their_passwords(
    make_secrets: ModuleType, rabbit: Rabbit
) -> None:
    """Their definitions are imported into a real broker; a second start of compose changes nothing."""
    make_secrets.main()
    urls = {service: (make_secrets.FOLDER / service / "amqp_url").read_text() for service in PERMISSIONS}
    assert len(set(urls.values())) == len(urls)
    assert not (make_secrets.FOLDER / "gateway" / "amqp_url").exists()
    make_secrets.main()
    assert urls == {s: (make_secrets.FOLDER / s / "amqp_url").read_text() for s in PERMISSIONS}
    rabbit.import_definitions((make_secrets.BROKER / "definitions.json").read_bytes())
    here = urlsplit(rabbit.url)
    for url in urls.values():
        login = urlsplit(url)
        address = f"{here.hostname}:{here.port}/"
        await (await aio_pika.connect(f"amqp://{login.username}:{login.password}@{address}")).close()
        with pytest.raises(ProbableAuthenticationError):
            await aio_pika.connect(f"amqp://{login.username}:wrong@{address}")
