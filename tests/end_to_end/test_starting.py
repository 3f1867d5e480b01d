"""A service that starts before its dependencies waits for them, and names the missing part."""

import asyncio
import json
import os
import urllib.error
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import Any

import asyncpg
import pytest

from services.cli.secrets import with_secrets
from shared.db.migrate import migrate
from shared.events.bus import EVENT_LOG
from shared.events.bus.rabbit import RabbitBus
from shared.servers.ports import free_port
from shared.settings import Settings
from tests.harness.process import Process, environment_for, serving
from tests.harness.servers import Postgres, Rabbit


def _service(folder: Path, name: str, **settings: str) -> Process:
    with_secrets(Settings(home=folder), make=True)
    return serving([name], environment_for(folder, **settings), folder)


async def _until(fact: Callable[[], Any], process: Process) -> Any:
    for _ in range(1200):
        if found := fact():
            return found
        assert process.child is not None and process.child.poll() is None, process.log.read_text()
        await asyncio.sleep(0.1)
    raise AssertionError(process.log.read_text())


async def test_a_service_waits_for_its_schema(tmp_path: Path, postgres: Postgres, amqp_url: str) -> None:
    """New pods may start before the migration job is done: they wait, then become ready."""
    name = f"late_{tmp_path.name[-6:].strip('_').lower()}_{free_port()}"
    admin: asyncpg.Connection[Any] = await asyncpg.connect(postgres.url_of("postgres"))
    await admin.execute(f"CREATE DATABASE {name}")
    urls = {"STUDIO_DATABASE_URL": postgres.url_of(name), "STUDIO_AMQP_URL": amqp_url}
    process = _service(tmp_path, "catalog", **urls)
    try:
        process.start()
        response = await _until(lambda: _waiting(process.ready_url), process)
        assert response[0] == 503 and response[1]["parts"]["schema"].endswith("migrations are not applied")
        live = _ask(process.ready_url.replace("ready", "live"))
        assert live is not None and live[0] == 200, "a probe would kill what only waits"
        refused = _ask(process.ready_url.replace("health/ready", "internal/status"))
        assert refused is not None and refused[0] == 503
        await migrate(postgres.url_of(name), ["catalog"])
        await asyncio.to_thread(process.wait_ready)
    finally:
        process.stop()
        await admin.execute(f"DROP DATABASE {name} WITH (FORCE)")
        await admin.close()


async def test_a_service_that_waits_for_its_schema_stops_when_it_is_told_to(
    tmp_path: Path, postgres: Postgres
) -> None:
    """A rollback during a long migration must not wait for every pod's grace period."""
    url = postgres.url_of(f"absent_{free_port()}")
    process = _service(tmp_path, "gateway", STUDIO_DATABASE_URL=url, STUDIO_OPERATOR_PORT=str(free_port()))
    process.start()
    try:
        await _until(lambda: _waiting(process.ready_url), process)
        assert process.child is not None
        process.child.terminate()
        assert await asyncio.to_thread(process.child.wait, 20) == 0
    finally:
        process.stop()


@pytest.mark.timeout(240)
async def test_readiness_names_the_part_that_is_missing(tmp_path: Path, database_url: str) -> None:
    """Without its broker the dispatcher starts, is live, and names what it waits for."""
    dead = f"amqp://guest:guest@127.0.0.1:{free_port()}/"
    process = _service(tmp_path, "webhooks", STUDIO_DATABASE_URL=database_url, STUDIO_AMQP_URL=dead)
    try:
        process.start()
        status, body = await _until(lambda: _unless(process.ready_url, "waiting"), process)
        assert (
            status == 503 and body["parts"]["database"] == "ok" and "webhooks.events" in body["parts"]["bus"]
        )
        live = _ask(process.ready_url.replace("ready", "live"))
        assert live is not None and live[0] == 200
        assert process.child is not None
        assert _niceness(process.child.pid) == _niceness(0) + 10, "requests go before deliveries"
    finally:
        process.stop()


@pytest.mark.timeout(240)
async def test_a_service_that_loses_its_broker_is_degraded_and_goes_on_answering(
    tmp_path: Path, database_url: str, amqp_url: str, rabbit: Rabbit
) -> None:
    """Not ready would take every replica out of a cluster at once, and all forms with them."""
    # The event log's service has been there once, and has declared the queues.
    declared = await RabbitBus(amqp_url, "webhooks").link(EVENT_LOG, "webhooks", lambda reply: None)
    await declared.close()
    process = _service(tmp_path, "forms", STUDIO_DATABASE_URL=database_url, STUDIO_AMQP_URL=amqp_url)
    try:
        process.start()
        await asyncio.to_thread(process.wait_ready)
        await asyncio.to_thread(rabbit.kill)
        assert process.child is not None and _niceness(process.child.pid) == _niceness(0)
        status, body = await _until(lambda: _unless(process.ready_url, "ready", "waiting"), process)
        assert (status, body["status"]) == (200, "degraded")
        assert body["parts"]["database"] == "ok" and "forms.new-members" in body["parts"]["bus"]
    finally:
        process.stop()


def _niceness(pid: int) -> int:
    return os.getpriority(os.PRIO_PROCESS, pid)


def _waiting(url: str) -> tuple[int, Any] | None:
    response = _ask(url)
    return response if response and response[1]["status"] == "waiting" and response[1]["parts"] else None


def _unless(url: str, *statuses: str) -> tuple[int, Any] | None:
    response = _ask(url)
    return response if response and response[1]["status"] not in statuses else None


def _ask(url: str) -> tuple[int, Any] | None:
    try:
        with urllib.request.urlopen(url, timeout=5) as response:
            return response.status, json.loads(response.read())
    except urllib.error.HTTPError as refused:
        return refused.code, json.loads(refused.read())
    except OSError:
        return None
