"""What happens to a connection when we answer before the whole request body was read.

The server cannot find the next request after an unread body, so it closes the connection. A client that does
not expect this loses its next request. A small body is therefore read to its end, and the connection is kept.
For a large body, or one of unknown length, the response says `Connection: close`, and we keep reading for a
moment: closing a socket with unread bytes sends a reset, and the client may lose the response.
"""

import asyncio
from collections.abc import Awaitable, Mapping
from typing import Any, Final

from shared.http.asgi import ASGIApp, Message, Receive, Scope, Send

# A body up to this size that arrives this fast is read to its end, so a refused write keeps its connection.
SMALL_BODY: Final = 64 * 1024
SMALL_BODY_SECONDS: Final = 0.5
# How much of an unwanted body is read and discarded after the response, and for how long.
LARGEST_LEFTOVER: Final = 8 * 1024 * 1024
LEFTOVER_SECONDS: Final = 2.0
_TELLS_OF_BODY: Final = frozenset({b"content-length", b"transfer-encoding"})


def with_early_responses(app: ASGIApp) -> ASGIApp:
    def over(scope: Scope, receive: Receive, send: Send) -> Awaitable[None]:
        # Most requests have no body and cost only this check.
        for name, _ in scope["headers"]:
            if name in _TELLS_OF_BODY:
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
        # Reading on would send `100 Continue` and invite the client to send the unwanted body.
        self._asks_first = b"expect" in headers
        self._small = length.isdigit() and int(length) <= SMALL_BODY and not self._asks_first
        self._ended = length == b"0"
        self._closing = False

    async def receive(self) -> Any:
        message: Any = await self._receive()
        self._ended = message["type"] != "http.request" or not message.get("more_body")
        return message

    def tell_closing(self, send: Send) -> Send:
        def send_and_tell(message: Message) -> Awaitable[None]:
            if self._ended or message["type"] != "http.response.start":
                return send(message)
            return self._send_early(message, send)

        return send_and_tell

    async def _send_early(self, message: Message, send: Send) -> None:
        if self._small:
            await self._read(SMALL_BODY, SMALL_BODY_SECONDS)
        if not self._ended:
            self._closing = True
            message["headers"] = [*message["headers"], (b"connection", b"close")]
        await send(message)

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
