"""Ports that a server can listen on whatever else uses the machine."""

import socket
from contextlib import ExitStack, suppress
from pathlib import Path

import pytest

from shared.servers.ports import CHOICES, free_port

LOOKS = 1_000
RANGE = Path("/proc/sys/net/ipv4/ip_local_port_range")


def test_a_free_port_is_free_on_every_address() -> None:
    """A RabbitMQ node did not start on a port that another address of loopback used."""
    with ExitStack() as held:
        taken = set(CHOICES[::30])
        for port in taken:
            with suppress(OSError):
                held.enter_context(socket.socket()).bind(("127.0.1.1", port))
        assert not taken & {free_port() for _ in range(LOOKS)}


@pytest.mark.skipif(not RANGE.exists(), reason="only Linux tells its range")
def test_no_outgoing_connection_gets_the_port_of_a_server_that_is_down() -> None:
    """A connection took a killed broker's port: the broker could not be started on it again."""
    assert free_port() < int(RANGE.read_text().split()[0])
