"""`studioctl up`: an embedded Postgres, every service, the demo studio, and a few lines to try."""

import asyncio
import json
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import msgspec
import structlog

from services.all_in_one import open_all
from services.cli.demo import STUDIO_ID
from services.cli.demo_studio import load_demo
from services.cli.operator_client import RUN_FILE, OperatorClient
from services.cli.secrets import with_secrets, write_private
from services.gateway.app import gateway_addresses, gateway_listeners
from shared.migrate import migrate
from shared.serve import listening, refuse_taken_ports, until_stopped
from shared.servers.postgres import EmbeddedPostgres
from shared.servers.problem import explained
from shared.settings import SERVICES, Settings

log = structlog.get_logger("up")

DEMO_KEY = "demo_key.json"


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
            print(_welcome(settings, key), flush=True)
            await until_stopped()
            print("Stopping.", file=sys.stderr, flush=True)
    (settings.home / RUN_FILE).unlink(missing_ok=True)


@asynccontextmanager
async def _database(settings: Settings) -> AsyncIterator[str]:
    if settings.database_url is not None:
        yield settings.database_url
        return
    server = await asyncio.to_thread(EmbeddedPostgres.start, settings.home)
    log.info("postgres_started", origin=server.origin, port=server.port)
    try:
        yield server.url
    finally:
        await asyncio.to_thread(server.stop)


def _demo_key(settings: Settings, operator_url: str) -> str:
    """The demo studio's key, made with the studio on first start and kept for the next ones."""
    client = OperatorClient(operator_url, settings.operator_tokens[0])
    path = settings.home / DEMO_KEY
    known = {studio["id"] for studio in client.get("/studios")["data"]}
    if STUDIO_ID not in known:
        print("Loading the demo studio …", file=sys.stderr, flush=True)
        load_demo(client)
    if path.exists():
        kept: dict[str, str] = json.loads(path.read_text())
        key = next((key for key in client.get("/keys")["data"] if key["id"] == kept["id"]), None)
        if key is not None and key["revoked_at"] is None:
            return kept["key"]
    issued = client.post("/keys", {"studio": STUDIO_ID, "name": "demo", "scopes": ["all"]})
    write_private(path, json.dumps({"id": issued["id"], "key": issued["key"]}) + "\n")
    return str(issued["key"])


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
        f"Operators' API, which studioctl uses: {operators}",
        f"Data, secrets and the Postgres log: {settings.home}",
        "Ctrl-C stops everything.",
        "",
    ]
    return "\n".join(lines)
