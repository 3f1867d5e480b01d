"""Services in processes of their own: the responses of `studioctl up`, and one limit for two gateways."""

import asyncio
import os
import subprocess
import sys
from collections import Counter
from collections.abc import AsyncIterator, Sequence
from contextlib import ExitStack, asynccontextmanager
from pathlib import Path

import aiohttp
import pytest

from services.cli.secrets import with_secrets
from shared.servers.ports import free_port
from shared.settings import Settings
from shared.wire import new_id
from tests.harness import import_lines
from tests.harness.databases import connected
from tests.harness.http import Client
from tests.harness.pgbouncer import running_valkey
from tests.harness.process import ROOT, environment_for, serving
from tests.harness.system import RunningSystem, System, embedded_system, new_studio_in

PATHS = (
    "/studio",
    "/locations",
    "/rooms",
    "/class-types",
    "/instructors",
    "/products",
    "/products?active=false",
    "/key",
)


async def test_gateway_and_catalog_alone_give_the_same_answers(
    database_url: str, amqp_url: str, tmp_path: Path
) -> None:
    """The same database behind both: body and ETag are the same, so any replica can answer 304."""
    with embedded_system(tmp_path, database_url, STUDIO_CALLER_KEY="c" * 32) as embedded:
        async with new_studio_in(embedded) as system:
            place = import_lines.location()
            data = [
                place,
                import_lines.room(place["id"]),
                import_lines.class_type(),
                import_lines.instructor(),
                import_lines.product(),
            ]
            await system.import_lines(data)
            key = await system.key()
            responses = [await system.partner(key).get(path) for path in PATHS]
            expected = [(response.body, response.headers["ETag"]) for response in responses]
    gateway_port, catalog_port, operator_port = free_port(), free_port(), free_port()
    shared = environment_for(
        tmp_path,
        STUDIO_DATABASE_URL=database_url,
        STUDIO_AMQP_URL=amqp_url,
        STUDIO_CATALOG_URL=f"http://127.0.0.1:{catalog_port}",
        STUDIO_OPERATOR_PORT=str(operator_port),
    )
    # Each service has its own key, which the gateway knows. Tags depend on it.
    known = {"STUDIO_CALLER_KEY_CATALOG": "c" * 32, "STUDIO_CALLER_KEY": "c" * 32}
    keys = {"catalog": {"STUDIO_CALLER_KEY": "c" * 32}, "gateway": known}
    ports = {"catalog": catalog_port, "gateway": gateway_port}
    processes = [serving([name], shared | keys[name], tmp_path, port) for name, port in ports.items()]
    try:
        for process in processes:
            process.start()
        for process in processes:
            process.wait_ready()
        async with aiohttp.ClientSession() as session:
            alone = System(RunningSystem(gateway_port, operator_port, "", tmp_path), session)
            client = alone.partner(key)
            responses = [await client.get(path) for path in PATHS]
            assert [(response.body, response.headers["ETag"]) for response in responses] == expected
            for path, (_, tag) in zip(PATHS, expected, strict=True):
                again = await client.send("GET", path, headers={"If-None-Match": tag})
                assert (again.status, again.body) == (304, b"")
            missing = await client.get("/classes")
            assert (missing.status, missing.code) == (503, "service_unavailable")
            assert "Retry-After" in missing.headers
    finally:
        for process in processes:
            process.stop()


@pytest.mark.parametrize(
    ("service", "missing"),
    [("gateway", "STUDIO_KEY_PEPPER"), ("catalog", "STUDIO_CALLER_KEY"), ("webhooks", "STUDIO_WEBHOOK_KEY")],
)
def test_serve_says_which_secret_is_missing(service: str, missing: str, tmp_path: Path) -> None:
    """One sentence on stderr and exit code 1, before anything is opened."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("STUDIO_")}
    done = subprocess.run(
        [sys.executable, "-m", "services.cli.main", "serve", service],
        env=kept | {"STUDIO_HOME": str(tmp_path)},
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 1
    assert missing in done.stderr
    assert "Traceback" not in done.stderr


BURST = 20
# So slow that no token is refilled during the test.
RATE = 0.001
# A reservation that takes longer than 0.1 s counts as a failure, as on a very busy machine. Then the gateway
# logs this and counts for itself for a second, and the test uses the next client.
AWAY = "shared_limits_away"
CLIENTS = 8
STUDIO = "INSERT INTO gateway.studios (id, name) VALUES ($1, 'Flow')"


class Gateways:
    def __init__(self, logs: Sequence[Path], partners: Sequence[Sequence[Client]]) -> None:
        self._logs = logs
        self._partners = iter(partners)

    async def statuses(self) -> Counter[int]:
        """Of a new client that sends each gateway as many requests as its limit allows."""
        partner = next(self._partners)
        return Counter([(await gateway.get("/key")).status for _ in range(BURST) for gateway in partner])

    def failed_reservations(self) -> int:
        return sum(log.read_text().count(AWAY) for log in self._logs)


@asynccontextmanager
async def two_gateways(folder: Path, database_url: str, valkey_url: str) -> AsyncIterator[Gateways]:
    token = with_secrets(Settings(home=folder), make=True).operator_tokens[0]
    shared = environment_for(folder, STUDIO_DATABASE_URL=database_url, STUDIO_VALKEY_URL=valkey_url)
    ports = [free_port(), free_port()]
    with ExitStack() as stack:
        systems, processes = [], []
        for port in ports:
            operator_port = free_port()
            environment = shared | {"STUDIO_OPERATOR_PORT": str(operator_port)}
            process = serving(["gateway"], environment, folder, port)
            stack.callback(process.stop)
            processes.append(process)
            systems.append(RunningSystem(port, operator_port, token, folder))
        processes[0].start()
        await asyncio.to_thread(processes[0].wait_ready)
        async with aiohttp.ClientSession() as session:
            first, second = (System(running, session) for running in systems)
            keys = await _keys(database_url, first)
            # Later than the keys, so that it knows them from its start.
            processes[1].start()
            await asyncio.to_thread(processes[1].wait_ready)
            partners = [(first.partner(key), second.partner(key)) for key in keys]
            yield Gateways([process.log for process in processes], partners)


async def _keys(database_url: str, system: System) -> list[str]:
    """One for each client."""
    system.studio_id = new_id()
    async with connected(database_url) as admin:
        await admin.execute(STUDIO, system.studio_id)
    issued = [await system.issue(client=f"client {number}") for number in range(CLIENTS)]
    for key in issued:
        await system.limit(key, RATE, BURST)
    return [str(key["key"]) for key in issued]


async def test_two_gateways_share_a_limit_and_outlive_the_store(database_url: str, tmp_path: Path) -> None:
    """With the store they allow together what one would. Without it each counts for itself; nothing fails."""
    with running_valkey() as valkey:
        async with two_gateways(tmp_path, database_url, valkey.url) as gateways:
            for _ in range(CLIENTS - 1):
                before = gateways.failed_reservations()
                shared = await gateways.statuses()
                if gateways.failed_reservations() == before:
                    break
            assert shared == {200: BURST, 429: BURST}
            await asyncio.to_thread(valkey.stop)
            assert await gateways.statuses() == {200: 2 * BURST}
            assert gateways.failed_reservations() > before
