"""Services in processes of their own: the secrets they need, and what two gateways have in common."""

import asyncio
import os
import subprocess
import sys
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import ExitStack, asynccontextmanager
from pathlib import Path
from typing import TypeVar

import aiohttp
import pytest

from services.cli.secrets import with_secrets
from services.gateway.shared_rate_limits import AWAY_SECONDS
from shared.servers.ports import free_port
from shared.settings import Settings
from shared.wire import new_id
from tests.harness.databases import connected
from tests.harness.http import Client
from tests.harness.pgbouncer import running_valkey
from tests.harness.process import ROOT, environment_for, serving
from tests.harness.system import RunningSystem, System


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


T = TypeVar("T")
BURST = 20
# So slow that no token is refilled during the test.
RATE = 0.001
# A reservation that takes longer than 0.1 s counts as a failure, as on a very busy machine. Then the gateway
# logs this and counts for itself for a second, and the test uses the next client.
AWAY = "shared_limits_away"
CLIENTS = 10
LARGE = b" " * 4096 * 12
STUDIO = "INSERT INTO gateway.studios (id, name) VALUES ($1, 'Flow')"


class Gateways:
    def __init__(self, logs: Sequence[Path], partners: Sequence[Sequence[Client]]) -> None:
        self._logs = logs
        self.partners = iter(partners)

    async def statuses(self) -> Counter[int]:
        """Of a new client that sends each gateway as many requests as its limit allows."""
        partner = next(self.partners)
        return Counter([(await gateway.get("/key")).status for _ in range(BURST) for gateway in partner])

    async def large(self) -> list[int]:
        """Of a new client that sends each gateway a body of more than half of its tokens."""
        return [(await gateway.post("/leads", raw=LARGE)).status for gateway in next(self.partners)]

    async def shared(self, statuses: Callable[[], Awaitable[T]]) -> T:
        """Those of the first client for which no reservation failed."""
        while True:
            before = self.failed_reservations()
            found = await statuses()
            if self.failed_reservations() == before:
                return found

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
    """With the store they allow together what one would. Without it each counts for itself; nothing fails.

    Either can answer 304 to the tag of the other, and tells that a service is not there.
    """
    with running_valkey() as valkey:
        async with two_gateways(tmp_path, database_url, valkey.url) as gateways:
            first, second = next(gateways.partners)
            tag = (await first.get("/key")).headers["ETag"]
            assert (await second.send("GET", "/key", headers={"If-None-Match": tag})).status == 304
            missing = await first.get("/classes")
            assert (missing.status, missing.code) == (503, "service_unavailable")
            assert "Retry-After" in missing.headers
            assert await gateways.shared(gateways.statuses) == {200: BURST, 429: BURST}
            assert await gateways.shared(gateways.large) == [503, 429]
            before = gateways.failed_reservations()
            await asyncio.to_thread(valkey.stop)
            assert await gateways.statuses() == {200: 2 * BURST}
            assert gateways.failed_reservations() > before
            await asyncio.to_thread(valkey.start)
            await asyncio.sleep(AWAY_SECONDS + 0.1)
            assert await gateways.shared(gateways.statuses) == {200: BURST, 429: BURST}
