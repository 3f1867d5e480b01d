"""`studioctl up`: an embedded Postgres, every service, the demo studio, and commands to try."""

import argparse
import asyncio
import json
import sys
import time
from contextlib import AsyncExitStack
from pathlib import Path

import msgspec

from services.all_in_one import open_all
from services.cli.demo_key import demo_console, demo_key
from services.cli.demo_samples import add_samples
from services.cli.operator_client import RUN_FILE
from services.cli.progress_steps import step
from services.cli.run_async import run_async
from services.cli.secrets import with_secrets, write_private
from services.cli.supervised_postgres import open_database
from services.cli.welcome import welcome
from services.gateway.app import gateway_addresses, gateway_listeners
from shared.db.migrate import migrate
from shared.http.server import catch_stop_signals, listening, refuse_taken_ports
from shared.observability.log import set_up_logging
from shared.observability.log_file import LogFile
from shared.observability.tracing import set_up_tracing
from shared.servers.postgres_home import lock_home
from shared.servers.problem import explained
from shared.settings import SERVICES, Settings

LOG_FILE = "studio.log"


def up(settings: Settings, given: argparse.Namespace) -> None:
    home = Path(given.home).absolute() if given.home else settings.home
    settings = msgspec.structs.replace(
        settings,
        home=home,
        port=given.port if given.port is not None else settings.port,
        operator_port=given.operator_port if given.operator_port is not None else settings.operator_port,
        # Allow receivers on this machine unless the environment says otherwise. `serve` never does this.
        webhook_loopback_http=settings.webhook_allow_http is None,
    )
    run_async(run_up(settings, demo=not given.no_demo, verbose=given.verbose))


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
            gateway = await stack.enter_async_context(open_all(settings))
            listeners = gateway_listeners(settings, gateway.partner_app, gateway.operator_app)
            await stack.enter_async_context(listening(listeners))
        operator_url = f"http://{settings.operator_host}:{settings.operator_port}"
        run_file = settings.home / RUN_FILE
        write_private(run_file, json.dumps({"operator_url": operator_url}))
        stack.callback(run_file.unlink, missing_ok=True)
        key = await asyncio.to_thread(demo_key, settings, operator_url) if demo else None
        if demo:
            await add_samples(settings, operator_url)
        console = await asyncio.to_thread(demo_console, settings, operator_url) if demo else None
        stopped = catch_stop_signals()
        seconds, log = time.monotonic() - began, file.path if file else None
        print(welcome(settings, key, seconds, log=log, console=console), flush=True)
        await stopped
        print("Stopping.", file=sys.stderr, flush=True)
