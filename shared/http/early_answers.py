"""An answer that is given before the whole body was read, and what becomes of the connection then.

The server cannot find the next request behind a body that nobody read, so it closes the connection. A client
that is not told sends its next request into nothing. A small body is read to its end instead, so that the
connection lives. For a large one, or one of unknown length, the answer says `Connection: close`, and what
still comes is read for a moment: a socket that is closed with bytes unread takes the answer from its client.
"""

import asyncio
from collections.abc import Awaitable, Mapping
from typing import Any, Final

from litestar.types import ASGIApp, Message, Receive, Scope, Send

# Read to its end when it is no longer than this and comes this fast: a refused write keeps its connection.
SMALL_BODY: Final = 64 * 1024
SMALL_BODY_SECONDS: Final = 0.5
# How much of a body that nobody wants is read after the answer, and for how long.
LARGEST_LEFTOVER: Final = 8 * 1024 * 1024
LEFTOVER_SECONDS: Final = 2.0
_TELLS_OF_BODY: Final = frozenset({b"content-length", b"transfer-encoding"})


def with_early_answers(app: ASGIApp) -> ASGIApp:
    """HTTP/2 ends a stream without its connection: nothing happens to it here."""

    def over(scope: Scope, receive: Receive, send: Send) -> Awaitable[None]:
        # A request without a body, as most are, costs this look and nothing more.
        for name, _ in scope["headers"]:
            if name in _TELLS_OF_BODY and scope["http_version"] != "2":
                return _answered(app, scope, receive, send)
        return app(scope, receive, send)

    return over


async def _answered(app: ASGIApp, scope: Scope, receive: Receive, send: Send) -> None:
    body = _Body(receive, dict(scope["headers"]))
    await app(scope, body.receive, body.tell_closing(send))
    await body.read_leftover()


class _Body:
    def __init__(self, receive: Receive, headers: Mapping[bytes, bytes]) -> None:
        length = headers.get(b"content-length", b"")
        self._receive = receive
        # Who asks first whether to send it must not be told to by our reading on.
        self._asks_first = b"expect" in headers
        self._small = length.isdigit() and int(length) <= SMALL_BODY and not self._asks_first
        self._ended = length == b"0"
        self._closing = False

    async def receive(self) -> Any:
        message: Any = await self._receive()
        self._ended = message["type"] != "http.request" or not message.get("more_body")
        return message

    def tell_closing(self, send: Send) -> Send:
        async def send_and_tell(message: Message) -> None:
            if message["type"] == "http.response.start" and not self._ended:
                if self._small:
                    await self._read(SMALL_BODY, SMALL_BODY_SECONDS)
                if not self._ended:
                    self._closing = True
                    message["headers"] = [*message["headers"], (b"connection", b"close")]
            await send(message)

        return send_and_tell

    async def read_leftover(self) -> None:
        if self._closing and not self._ended and not self._asks_first:
            await self._read(LARGEST_LEFTOVER, LEFTOVER_SECONDS)

    async def _read(self, most: int, seconds: float) -> None:
        try:
            async with asyncio.timeout(seconds):
                while not self._ended and most > 0:
                    message = await self.receive()
                    most -= len(message.get("body", b""))
        except TimeoutError:
            return
