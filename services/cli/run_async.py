"""Runs a command's coroutine in an event loop and turns expected errors into one sentence."""

import asyncio
from collections.abc import Coroutine
from typing import Any

import asyncpg
import uvloop

from services.cli.errors import CommandFailed
from shared.db.migrate import MigrationProblem
from shared.http.server import PortTaken
from shared.servers.problem import ServerProblem


def run_async(work: Coroutine[Any, Any, Any]) -> Any:
    try:
        return uvloop.run(work)
    except (ServerProblem, PortTaken, MigrationProblem) as problem:
        raise CommandFailed(str(problem)) from None
    except (asyncpg.PostgresError, OSError) as problem:
        raise CommandFailed(f"The database cannot be used: {problem}") from None
    except asyncio.CancelledError:
        raise KeyboardInterrupt from None
