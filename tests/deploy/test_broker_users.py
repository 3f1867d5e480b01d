"""Each service has its own broker user, as compose and the chart give them; migrations need no superuser."""

import json
import os
import secrets
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import aio_pika
import asyncpg
import msgspec
import pytest
from aio_pika.exceptions import ProbableAuthenticationError

from deploy.compose import make_secrets
from shared.db.database import role_of, role_password, service_url
from shared.db.migrate import migrate
from shared.events.bus.topology import PERMISSIONS
from shared.settings import SERVICES
from tests.deploy.chart import named, pods, rendered
from tests.harness.databases import connected
from tests.harness.servers import Postgres, Rabbit


def test_every_deployment_in_production_logs_in_as_its_own_user() -> None:
    """With the credentials that the topology operator writes for that service."""
    found = rendered()
    assert set(named(found, "User")) == {f"studio-broker-{service}" for service in PERMISSIONS}
    for service, allowed in PERMISSIONS.items():
        permission = named(found, "Permission")[f"studio-broker-{service}"]["spec"]
        assert permission["userReference"] == {"name": f"studio-broker-{service}"}
        assert permission["permissions"] == msgspec.to_builtins(allowed)
    for name in named(found, "Deployment"):
        service = name.removesuffix("-log").removesuffix("-dispatch")
        env = pods(found)[name]["containers"][0].get("env", ())
        logins = [each for each in env if each["name"].startswith("BROKER_")]
        secrets = {each["valueFrom"]["secretKeyRef"]["name"] for each in logins}
        wanted = {f"studio-broker-{service}-user-credentials"} if service in PERMISSIONS else set()
        assert secrets == wanted


async def test_the_users_of_the_single_broker_can_log_in(live_rabbit: Rabbit) -> None:
    """With the URLs of the development values; a real broker imports what the chart renders."""
    secrets = named(rendered("development"), "Secret")
    live_rabbit.import_definitions(secrets["studio-rabbitmq"]["stringData"]["definitions.json"].encode())
    for service in PERMISSIONS:
        await _log_in(live_rabbit, secrets[f"studio-{service}"]["stringData"]["STUDIO_AMQP_URL"])
    definitions = json.loads(secrets["studio-rabbitmq"]["stringData"]["definitions.json"])
    allowed = {each.pop("user"): each for each in definitions["permissions"]}
    assert allowed["studio_forms"]["read"] == PERMISSIONS["forms"].read


async def _log_in(rabbit: Rabbit, url: str) -> None:
    """And not with another password."""
    here, login = urlsplit(rabbit.url), urlsplit(url)
    address = f"{here.hostname}:{here.port}/"
    await (await aio_pika.connect(f"amqp://{login.username}:{login.password}@{address}")).close()
    with pytest.raises(ProbableAuthenticationError):
        await aio_pika.connect(f"amqp://{login.username}:wrong@{address}")


async def test_the_users_that_compose_creates_can_log_in_and_keep_their_passwords(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, live_rabbit: Rabbit
) -> None:
    """Their definitions are imported into a real broker; a second start of compose changes nothing."""
    for name in ("FOLDER", "BROKER"):
        monkeypatch.setattr(make_secrets, name, tmp_path / name)
        (tmp_path / name).mkdir()
    # Only root may give files away.
    monkeypatch.setattr(os, "chown", lambda *_: None)

    def urls() -> dict[str, str]:
        return {service: (make_secrets.FOLDER / service / "amqp_url").read_text() for service in PERMISSIONS}

    make_secrets.main()
    first = urls()
    assert len(set(first.values())) == len(first)
    assert not (make_secrets.FOLDER / "gateway" / "amqp_url").exists()
    make_secrets.main()
    assert urls() == first
    live_rabbit.import_definitions((make_secrets.BROKER / "definitions.json").read_bytes())
    for url in first.values():
        await _log_in(live_rabbit, url)


async def test_migrations_need_no_superuser(postgres: Postgres) -> None:
    """A role that owns the database and may create roles is enough. No service uses it."""
    server = postgres.url_of("postgres")
    name, password = f"migrate_{secrets.token_hex(6)}", secrets.token_hex(12)
    admin: asyncpg.Connection[Any] = await asyncpg.connect(server)
    passwords = {service: role_password(server, service) or "" for service in SERVICES}
    try:
        await admin.execute(f"CREATE ROLE {name} LOGIN CREATEROLE PASSWORD '{password}'")
        for service in SERVICES:  # on a server of its own it would have made them itself
            if await admin.fetchval("SELECT 1 FROM pg_roles WHERE rolname = $1", role_of(service)):
                await admin.execute(f"GRANT {role_of(service)} TO {name} WITH ADMIN OPTION")
        await admin.execute(f"CREATE DATABASE {name} OWNER {name}")
        parts = urlsplit(postgres.url_of(name))
        url = parts._replace(netloc=f"{name}:{password}@{parts.netloc.rpartition('@')[2]}").geturl()
        applied = await migrate(url, SERVICES, passwords=passwords)
        assert all(applied.values())
        async with connected(service_url(postgres.url_of(name), "forms")) as own:
            assert await own.fetchval("SELECT count(*) FROM forms.leads") == 0
    finally:
        await admin.execute(f"DROP DATABASE IF EXISTS {name} WITH (FORCE)")
        await admin.execute(f"DROP OWNED BY {name}")
        await admin.execute(f"DROP ROLE {name}")
        await admin.close()
