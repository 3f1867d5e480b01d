"""The route layer reads a body in bounded size and time."""

import asyncio
from typing import Any

import pytest

from shared.errors import BodyTooLarge, Invalid
from shared.http.routes import read_body


def coming(*messages: dict[str, Any]) -> Any:
    """The server's side of ASGI: the given messages, and then nothing for ever."""
    left = list(messages)

    async def receive() -> dict[str, Any]:
        if left:
            return left.pop(0)
        await asyncio.Event().wait()
        raise AssertionError

    return receive


async def test_a_body_in_parts_is_joined() -> None:
    """Parts of any size make one body."""
    parts = [{"type": "http.request", "body": part, "more_body": part != b"c"} for part in (b"a", b"", b"c")]
    assert await read_body(coming(*parts), {}, 10) == b"ac"


async def test_a_body_that_never_ends_is_refused_in_time() -> None:
    """A client that stops half-way does not block anything."""
    first = {"type": "http.request", "body": b"{", "more_body": True}
    with pytest.raises(Invalid, match="did not arrive"):
        await read_body(coming(first), {}, 10, seconds=0.05)


@pytest.mark.parametrize("headers", [{}, {b"content-length": b"11"}])
async def test_a_body_over_the_limit_is_refused(headers: dict[bytes, bytes]) -> None:
    """By its declared length, or by the bytes received so far."""
    parts = [{"type": "http.request", "body": b"x" * 6, "more_body": True}] * 2
    with pytest.raises(BodyTooLarge):
        await read_body(coming(*parts), headers, 10)
