"""Puts ASGI apps on ports: granian inside our own event loop, several listeners, a clean stop."""

import asyncio
import gc
import signal
import socket
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

import structlog
from granian.constants import Interfaces
from granian.http import HTTP1Settings
from granian.server.embed import Server
from litestar.types import ASGIApp
from msgspec import Struct

from shared.http.draining import Draining

log = structlog.get_logger("serve")

STOP_SECONDS = 5.0


class PortTaken(Exception):
    """The message is one sentence for the operator."""


class Address(Struct, frozen=True):
    name: str
    host: str
    port: int


class Listener(Struct, frozen=True):
    address: Address
    app: ASGIApp


def refuse_taken_ports(addresses: Sequence[Address]) -> None:
    """granian binds with SO_REUSEPORT, so a second server would silently share the port: look first."""
    taken: set[int] = set()
    for address in addresses:
        if address.port in taken and address.port:
            raise PortTaken(
                f"The {address.name} cannot listen on {address.port}: it needs a port of its own."
            )
        taken.add(address.port)
        family = socket.AF_INET6 if ":" in address.host else socket.AF_INET
        with socket.socket(family, socket.SOCK_STREAM) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind((address.host, address.port))
            except OSError as problem:
                raise PortTaken(
                    f"The {address.name} cannot listen on {address.host}:{address.port}: "
                    f"{(problem.strerror or str(problem)).lower()}."
                ) from None


@asynccontextmanager
async def listening(listeners: Sequence[Listener]) -> AsyncIterator[Draining]:
    """The listeners answer inside the block; leaving it lets running requests finish first."""
    refuse_taken_ports([listener.address for listener in listeners])
    draining = Draining()
    servers = [
        Server(
            draining.over(listener.app),
            address=listener.address.host,
            port=listener.address.port,
            interface=Interfaces.ASGINL,
            runtime_threads=2,
            backlog=1024,
            websockets=False,
            log_enabled=False,
            http1_settings=HTTP1Settings(header_read_timeout=30_000),
        )
        for listener in listeners
    ]
    tasks = [asyncio.create_task(server.serve(), name="listener") for server in servers]
    try:
        await _until_connectable(listeners, tasks)
        calm_the_collector()
        yield draining
    finally:
        await draining.finish()
        for server in servers:
            server.stop()  # type: ignore[no-untyped-call]
        # Draining gave requests their time; a client that never finishes its own must not hold us up.
        _, stuck = await asyncio.wait(tasks, timeout=STOP_SECONDS)
        for task in stuck:
            task.cancel()


async def _until_connectable(listeners: Sequence[Listener], tasks: Sequence[asyncio.Task[None]]) -> None:
    for listener in listeners:
        host = _reachable(listener.address.host)
        while True:
            for task in tasks:
                if task.done():
                    await task
                    raise RuntimeError("A listener ended while starting.")
            try:
                _, writer = await asyncio.open_connection(host, listener.address.port)
            except OSError:
                await asyncio.sleep(0.01)
            else:
                writer.close()
                break


def _reachable(host: str) -> str:
    return {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)


def calm_the_collector() -> None:
    """What was made during start-up lives for ever: not scanning it again cut p99 to a third."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(50_000, 50, 50)


def catch_stop_signals() -> "asyncio.Future[str]":
    """Resolves to the name of the first SIGTERM or SIGINT. Call it before saying that the system is up: from
    then on a Ctrl-C stops everything cleanly instead of cancelling the start."""
    loop = asyncio.get_running_loop()
    stopped: asyncio.Future[str] = loop.create_future()

    def stop(name: str) -> None:
        if not stopped.done():
            stopped.set_result(name)

    for kind in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(kind, stop, kind.name)
    return stopped
