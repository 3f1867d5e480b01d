"""`studioctl up`: an embedded Postgres, every service, the demo studio, and commands to try."""

import asyncio
import json
import shutil
import sys
import time
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from importlib import import_module
from pathlib import Path

import msgspec
import structlog

from services.cli.database import run_async
from services.cli.operator_client import RUN_FILE
from services.cli.output import step
from services.cli.secrets import with_secrets, write_private
from services.gateway.app import gateway_addresses, gateway_listeners
from shared.background import end_tasks
from shared.db.migrate import migrate
from shared.http.server import catch_stop_signals, listening, refuse_taken_ports
from shared.observability.log import LogFile, set_up_logging
from shared.observability.tracing import set_up_tracing
from shared.servers.postgres import EmbeddedPostgres
from shared.servers.postgres_data import lock_home
from shared.servers.problem import ServerProblem, explained
from shared.settings import SERVICES, Settings

LOG_FILE = "studio.log"

log = structlog.get_logger("up")


def up(
    settings: Settings,
    *,
    port: int | None,
    operator_port: int | None,
    home: str | None,
    demo: bool,
    verbose: bool,
) -> None:
    settings = msgspec.structs.replace(
        settings,
        home=Path(home).absolute() if home else settings.home,
        port=port if port is not None else settings.port,
        operator_port=operator_port if operator_port is not None else settings.operator_port,
        # Allow receivers on this machine unless the environment says otherwise. `serve` never does this.
        webhook_loopback_http=settings.webhook_allow_http is None,
    )
    run_async(run_up(settings, demo=demo, verbose=verbose))


async def run_up(settings: Settings, *, demo: bool, verbose: bool) -> None:
    began = time.monotonic()
    async with AsyncExitStack() as stack:
        with explained(settings.home):
            # Locked before anything is created in it: two first starts would create different secrets.
            stack.enter_context(lock_home(settings.home, "up.lock"))
            file = None if verbose or not sys.stderr.isatty() else LogFile(settings.home / LOG_FILE)
            settings = with_secrets(settings, make=True)
        set_up_logging(settings, "studio", file=file)
        set_up_tracing(settings, "studio")
        refuse_taken_ports(gateway_addresses(settings))
        database_url = await stack.enter_async_context(open_database(settings))
        settings = msgspec.structs.replace(settings, database_url=database_url)
        with step("Preparing the database"):
            await migrate(settings.database_direct_url or database_url, SERVICES)
        with step("Starting the services"):
            from services.all_in_one import open_all

            gateway = await stack.enter_async_context(open_all(settings))
            listeners = gateway_listeners(settings, gateway.partner_app, gateway.operator_app)
            await stack.enter_async_context(listening(listeners))
        operator_url = f"http://{settings.operator_host}:{settings.operator_port}"
        run_file = settings.home / RUN_FILE
        write_private(run_file, json.dumps({"operator_url": operator_url}))
        stack.callback(run_file.unlink, missing_ok=True)
        key = console = None
        if demo:
            from services.cli.load_demo import demo_console, demo_key

            key = await demo_key(settings, operator_url)
            console = await asyncio.to_thread(demo_console, settings, operator_url)
        stopped = catch_stop_signals()
        seconds, log_path = time.monotonic() - began, file.path if file else None
        print(welcome(settings, key, seconds, log=log_path, console=console), flush=True)
        await stopped
        print("Stopping.", file=sys.stderr, flush=True)


@asynccontextmanager
async def open_database(settings: Settings) -> AsyncIterator[str]:
    """The URL of the database: the given one, or an embedded Postgres for as long as the block runs.

    If Postgres ends, it is started again. The services wait for the new server and continue.
    """
    if settings.database_url is not None:
        yield settings.database_url
        return
    with step("Starting Postgres"):
        starting = asyncio.get_running_loop().run_in_executor(None, EmbeddedPostgres.start, settings.home)
        import_module("services.all_in_one")  # needed next, and loaded by the time that Postgres is ready
        server = await starting
    log.info("postgres_started", origin=server.origin, port=server.port, data=str(server.data))

    async def restart_when_ended() -> None:
        nonlocal server
        while True:
            await asyncio.sleep(1)
            if server.alive:
                continue
            print(f"Postgres ended (its log is {server.log}); starting it again.", file=sys.stderr)
            await asyncio.to_thread(server.stop)
            try:
                server = await asyncio.to_thread(EmbeddedPostgres.start, settings.home)
            except ServerProblem as problem:
                print(problem, file=sys.stderr)

    supervision = asyncio.create_task(restart_when_ended())
    try:
        yield server.url
    finally:
        await end_tasks([supervision])
        await asyncio.to_thread(server.stop)


def welcome(
    settings: Settings, key: str | None, seconds: float, *, log: Path | None, console: str | None = None
) -> str:
    """What is printed when everything is ready: where it is, the key, and three calls to try."""
    base = f"http://{settings.host}:{settings.port_of('gateway')}"
    operators = f"http://{settings.operator_host}:{settings.operator_port}/operator/v1"
    lines = ["", f"The Studio Partner API is up after {seconds:.1f} s.", ""]
    lines += [f"  Base URL         {base}/partner/v1", f"  Reference        {base}/docs"]
    lines += [f"  Operators' API   {operators} (studioctl uses it)"]
    lines += [
        f"  Operators' page  {operators.removesuffix('/operator/v1')}/console (asks for a token, see below)"
    ]
    if log is not None:
        lines += [f"  Request log      {log} (--verbose shows it here)"]
    lines += [f"  Data, secrets    {settings.home}"]
    if key is not None:
        lines += ["", "A key with every scope of the demo studio:", "", key, "", "Three calls to try:", ""]
        lines += [
            _call(key, f"{base}/partner/v1/{path}") for path in ("studio", "classes?limit=3", "products")
        ]
    if console is not None:
        lines += [
            "",
            "The console; this link works once, within ten minutes:",
            "",
            console,
            "",
            "Another such link, and the token for the operators' page:",
            "",
            f"{program()} console --client demo",
            f"{program()} console --token",
        ]
    lines += ["", "Ctrl-C stops everything.", ""]
    return "\n".join(lines)


def _call(key: str, url: str) -> str:
    return f"curl -sS -H 'X-Service-Key: {key}' '{url}' | python3 -m json.tool"


def program() -> str:
    """How this program is called from here: `make up` runs the one in .venv, which is not in the PATH."""
    called = sys.argv[0]
    return called if called.endswith("/studioctl") and shutil.which("studioctl") is None else "studioctl"
