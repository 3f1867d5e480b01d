"""`studioctl up`: an embedded Postgres, every service, the demo studio, and a few lines to try."""

import argparse
import asyncio
import json
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import datetime
from pathlib import Path
from typing import Any

import msgspec
import structlog

from services.all_in_one import open_all
from services.cli.demo import STUDIO_ID
from services.cli.load_demo import load_demo
from services.cli.operator_client import RUN_FILE, OperatorClient
from services.cli.run_async import run_async
from services.cli.secrets import with_secrets, write_private
from services.gateway.app import gateway_addresses, gateway_listeners
from shared.db.migrate import migrate
from shared.http.server import catch_stop_signals, listening, refuse_taken_ports
from shared.observability.log import set_up_logging
from shared.observability.tracing import set_up_tracing
from shared.servers.postgres import EmbeddedPostgres
from shared.servers.problem import ServerProblem, explained
from shared.settings import SERVICES, Settings
from shared.wire import now

log = structlog.get_logger("up")

DEMO_KEY = "demo_key.json"


def up(settings: Settings, given: argparse.Namespace) -> None:
    home = Path(given.home).absolute() if given.home else settings.home
    settings = msgspec.structs.replace(
        settings,
        home=home,
        port=given.port if given.port is not None else settings.port,
        operator_port=given.operator_port if given.operator_port is not None else settings.operator_port,
    )
    set_up_logging(settings, "studio")
    set_up_tracing(settings, "studio")
    run_async(run_up(settings, demo=not given.no_demo))


async def run_up(settings: Settings, *, demo: bool) -> None:
    with explained(settings.home):
        settings = with_secrets(settings, make=True)
    refuse_taken_ports(gateway_addresses(settings))
    async with _database(settings) as database_url:
        settings = msgspec.structs.replace(settings, database_url=database_url)
        await migrate(database_url, SERVICES)
        async with open_all(settings) as gateway, listening(gateway_listeners(settings, gateway)):
            operator_url = f"http://{settings.operator_host}:{settings.operator_port}"
            write_private(settings.home / RUN_FILE, json.dumps({"operator_url": operator_url}))
            key = await asyncio.to_thread(_demo_key, settings, operator_url) if demo else None
            stopped = catch_stop_signals()
            print(_welcome(settings, key), flush=True)
            await stopped
            print("Stopping.", file=sys.stderr, flush=True)
    (settings.home / RUN_FILE).unlink(missing_ok=True)


@asynccontextmanager
async def _database(settings: Settings) -> AsyncIterator[str]:
    if settings.database_url is not None:
        yield settings.database_url
        return
    server = await asyncio.to_thread(EmbeddedPostgres.start, settings.home)
    log.info("postgres_started", origin=server.origin, port=server.port, data=str(server.data))
    watchdog = _PostgresWatchdog(server, settings.home)
    watching = asyncio.create_task(watchdog.run())
    try:
        yield server.url
    finally:
        watching.cancel()
        await asyncio.gather(watching, return_exceptions=True)
        await asyncio.to_thread(watchdog.server.stop)


class _PostgresWatchdog:
    """Restarts Postgres when it ends by itself. The services wait for it and reconnect."""

    def __init__(self, server: EmbeddedPostgres, home: Path) -> None:
        self.server = server
        self._home = home

    async def run(self) -> None:
        while True:
            await asyncio.sleep(1)
            if self.server.alive:
                continue
            print(f"Postgres ended (its log is {self.server.log}); starting it again.", file=sys.stderr)
            await asyncio.to_thread(self.server.stop)
            try:
                self.server = await asyncio.to_thread(EmbeddedPostgres.start, self._home)
            except ServerProblem as problem:
                print(problem, file=sys.stderr)


def _demo_key(settings: Settings, operator_url: str) -> str:
    """The demo studio's key. It is issued on the first start and saved for the next ones."""
    client = OperatorClient(operator_url, settings.operator_tokens[0])
    path = settings.home / DEMO_KEY
    known = {studio["id"] for studio in client.get("/studios")["data"]}
    if STUDIO_ID not in known or not path.exists():
        # Without a saved key an earlier start was interrupted while loading. Loading is idempotent.
        print("Loading the demo studio …", file=sys.stderr, flush=True)
        load_demo(client)
    if path.exists():
        saved: dict[str, str] = json.loads(path.read_text())
        key = next((key for key in client.get("/keys")["data"] if key["id"] == saved["id"]), None)
        if key is not None and _is_live(key):
            return saved["key"]
    issued = client.post("/keys", {"studio": STUDIO_ID, "name": "demo", "scopes": ["all"]})
    write_private(path, json.dumps({"id": issued["id"], "key": issued["key"]}) + "\n")
    return str(issued["key"])


def _is_live(key: dict[str, Any]) -> bool:
    expires = key["expires_at"]
    return key["revoked_at"] is None and (expires is None or datetime.fromisoformat(expires) > now())


def _welcome(settings: Settings, key: str | None) -> str:
    base = f"http://{settings.host}:{settings.port_of('gateway')}"
    operators = f"http://{settings.operator_host}:{settings.operator_port}/operator/v1"
    api = f"{base}/partner/v1"
    lines = ["", f"The Studio Partner API is up: {api}"]
    if key is not None:
        header = f"-H 'X-Service-Key: {key}'"
        lines += [
            f"A key with every scope of the demo studio: {key}",
            "",
            "Try:",
            f"  curl {header} {api}/studio",
            f"  curl {header} '{api}/classes?limit=3'",
            f"  curl {header} {api}/products",
        ]
    lines += [
        "",
        f"Reference: {base}/docs",
        f"OperatorContext' API, which studioctl uses: {operators}",
        f"Data, secrets and the Postgres log: {settings.home}",
        "Ctrl-C stops everything.",
        "",
    ]
    return "\n".join(lines)
