"""Makes DNS hang in a process of ours: with this folder in PYTHONPATH, Python imports this file first.

The name servers of a process cannot be replaced without a namespace of its own, so the call to them is. Each
name that hangs is written to the file HANGING_NAMES, as proof that the lookup was made.
"""

import os
import socket
import time
from pathlib import Path
from typing import Any

SECONDS = 30
_look_up = socket.getaddrinfo


def _hang(host: Any, *args: Any, **more: Any) -> Any:
    if not (isinstance(host, str) and host.startswith("hang")):
        return _look_up(host, *args, **more)
    with Path(os.environ["HANGING_NAMES"]).open("a") as names:
        names.write(f"{host}\n")
    time.sleep(SECONDS)
    raise socket.gaierror(socket.EAI_AGAIN, "no name server answered")


socket.getaddrinfo = _hang
