import asyncio
from collections.abc import Callable, Mapping

import uvloop


def pytest_asyncio_loop_factories() -> Mapping[str, Callable[[], asyncio.AbstractEventLoop]]:
    """Servers run on uvloop, `studioctl` may not: the two loops' transports differ at the edges."""
    return {"asyncio": asyncio.SelectorEventLoop, "uvloop": uvloop.new_event_loop}
