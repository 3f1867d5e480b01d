"""Ports that a server can listen on whatever else uses the machine."""

import socket
from contextlib import ExitStack

from shared.servers.ports import free_port

TAKEN = 500  # about one in 30 of the ports that the system chooses from
LOOKS = 1_000


def test_a_free_port_is_free_on_every_address() -> None:
    """After many connections from other addresses of loopback a RabbitMQ node did not start on its port."""
    with ExitStack() as held:
        taken = {_take(held) for _ in range(TAKEN)}
        assert not taken & {free_port() for _ in range(LOOKS)}


def _take(held: ExitStack) -> int:
    opened = held.enter_context(socket.socket())
    opened.bind(("127.0.1.1", 0))
    port: int = opened.getsockname()[1]
    return port
