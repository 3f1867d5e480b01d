"""DNS that never answers, for the dispatcher in this process or in one that a test starts."""

import os
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest.mock import patch

FOLDER = Path(__file__).with_name("hanging_dns")


class HangingNames:
    """`getaddrinfo` that never comes back for names that begin with `hang`."""

    def __init__(self) -> None:
        self.released = threading.Event()
        self.hanging: list[str] = []
        self._real = socket.getaddrinfo

    def __call__(self, host: str, *args: Any, **more: Any) -> Any:
        if not host.startswith("hang"):
            return self._real(host, *args, **more)
        self.hanging.append(host)
        self.released.wait(30)
        raise socket.gaierror(socket.EAI_AGAIN, "no name server answered")


@contextmanager
def hanging_names() -> Iterator[HangingNames]:
    """In this process."""
    names = HangingNames()
    with patch.object(socket, "getaddrinfo", names):
        try:
            yield names
        finally:
            names.released.set()


def hanging_dns(names: Path) -> dict[str, str]:
    """The environment of a process in which the same names hang; it writes them to the file `names`."""
    path = [str(FOLDER), os.environ.get("PYTHONPATH", "")]
    return {"PYTHONPATH": os.pathsep.join(filter(None, path)), "HANGING_NAMES": str(names)}


def hanging_urls(count: int) -> list[str]:
    return [f"http://hang{number}.example/hook" for number in range(count)]
