"""Free TCP ports for servers that are started here."""

import random
import socket

from shared.servers.problem import ServerProblem

# Below the ports that systems give to outgoing connections: one of those would take the port of a server
# that is down for a moment, and keep it.
CHOICES = range(15_000, 32_000)
TRIES = 200


def free_port() -> int:
    """Free on every address: RabbitMQ refuses to start on one that any address of the machine still uses."""
    for port in random.SystemRandom().sample(CHOICES, TRIES):
        with socket.socket() as probe:
            try:
                probe.bind(("", port))
            except OSError:
                continue
            return port
    raise ServerProblem(f"None of {TRIES} ports from {CHOICES[0]} to {CHOICES[-1]} is free.")


def is_free(port: int) -> bool:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
        return True
