"""Sockets that another thread closes while they are inspected."""

import os
import socket

from shared.http.open_sockets import endpoints_of, tcp_info

# No test opens this many, so the number is not reused meanwhile.
NUMBER = 700


def test_a_descriptor_that_was_closed_meanwhile_tells_nothing() -> None:
    """The sweep of connections continues with the next one instead of failing."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        os.dup2(server.fileno(), NUMBER)
        assert endpoints_of(NUMBER) is not None, "control: an open one is read"
        assert tcp_info(NUMBER) is not None
        os.close(NUMBER)
    assert endpoints_of(NUMBER) is None
    assert tcp_info(NUMBER) is None
