"""python -m bench.parts.server SERVER PORT: a constant answer, served as our services are or by a library."""

import asyncio
import os
import sys
from importlib import import_module
from typing import Any

from services.cli.database import run_async
from shared.http.server import Address, Listener, catch_stop_signals, listening, tune_interpreter

ANSWER = b'{"object":"studio","name":"%s"}' % (b"x" * 270)
HEADERS = [(b"content-type", b"application/json"), (b"content-length", b"%d" % len(ANSWER))]


async def app(scope: Any, receive: Any, send: Any) -> None:
    await send({"type": "http.response.start", "status": 200, "headers": HEADERS})
    await send({"type": "http.response.body", "body": ANSWER, "more_body": False})


async def ours(port: int) -> None:
    async with listening([Listener(Address("bench", "127.0.0.1", port), app)]):
        await catch_stop_signals()


async def granian(port: int) -> None:
    embed = import_module("granian.server.embed")
    server = embed.Server(
        app, port=port, interface="asginl", runtime_threads=2, websockets=False, log_enabled=False
    )
    serving = asyncio.create_task(server.serve())
    tune_interpreter()
    await asyncio.wait([serving, catch_stop_signals()], return_when=asyncio.FIRST_COMPLETED)


async def uvicorn(port: int) -> None:
    library = import_module("uvicorn")
    tune_interpreter()
    config = library.Config(app, port=port, http="httptools", access_log=False, lifespan="off")
    await library.Server(config).serve()


if __name__ == "__main__":
    # After our own packages, so that it only adds what we do not have.
    sys.path.append(os.environ["BENCH_PACKAGES"])
    run_async({"ours": ours, "granian": granian, "uvicorn": uvicorn}[sys.argv[1]](int(sys.argv[2])))
