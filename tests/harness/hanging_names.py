"""DNS that never answers, for the dispatcher in this process or in one that a test starts."""

import os
import socket
import struct
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from unittest.mock import patch

import aiodns

FOLDER = Path(__file__).with_name("hanging_dns")
A_RECORD = 1


class NameServer:
    """Every name is at 127.0.0.1, but those that begin with `hang` get no response."""

    def __init__(self, udp: socket.socket) -> None:
        self.address = "{}:{}".format(*udp.getsockname())
        self.queries: set[str] = set()
        self.hanging: set[str] = set()
        self._udp = udp

    def serve(self) -> None:
        """Until an empty packet arrives."""
        query, client = self._udp.recvfrom(4096)
        while query:
            self._response(query, client)
            query, client = self._udp.recvfrom(4096)

    def _response(self, query: bytes, client: tuple[str, int]) -> None:
        name, at = [], 12
        while size := query[at]:
            name.append(query[at + 1 : at + 1 + size].decode())
            at += 1 + size
        self.queries.add(".".join(name))
        if name[0].startswith("hang"):
            self.hanging.add(".".join(name))
            return
        found = b""
        if struct.unpack_from(">H", query, at + 1) == (A_RECORD,):
            found = struct.pack(">HHHIH4B", 0xC00C, A_RECORD, 1, 60, 4, 127, 0, 0, 1)
        counts = struct.pack(">4H", 1, 1 if found else 0, 0, 0)
        self._udp.sendto(query[:2] + b"\x81\x80" + counts + query[12 : at + 5] + found, client)


@contextmanager
def name_server() -> Iterator[NameServer]:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as udp:
        udp.bind(("127.0.0.1", 0))
        server = NameServer(udp)
        thread = threading.Thread(target=server.serve, name="name server")
        thread.start()
        try:
            yield server
        finally:
            udp.sendto(b"", udp.getsockname())
            thread.join()


@contextmanager
def hanging_names() -> Iterator[NameServer]:
    """For resolvers that are made in this process meanwhile."""
    with name_server() as server:
        with_server = partial(aiodns.DNSResolver, nameservers=[server.address])
        with patch.object(aiodns, "DNSResolver", with_server):
            yield server


def hanging_dns(server: NameServer) -> dict[str, str]:
    """The environment of a process that asks this server."""
    path = [str(FOLDER), os.environ.get("PYTHONPATH", "")]
    return {"PYTHONPATH": os.pathsep.join(filter(None, path)), "NAME_SERVER": server.address}
