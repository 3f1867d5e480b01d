"""Work per header, path and log line is linear in its size, and so is reading an import's lines."""

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from services.gateway.routes.operator.audit_trail import target_of
from services.gateway.routes.operator.transfer import lines_of
from services.gateway.rules.console_cookie import PARTNER_COOKIE, cookie_of, is_loopback
from services.gateway.rules.key_text import KEY_HEADS, STAFF_HEAD, parse
from shared.errors import DomainError
from shared.http.answer import IF_NONE_MATCH, matches
from shared.http.client_address import TrustedProxies
from shared.http.route_table import RouteTable
from shared.http.service import valid_request_id
from shared.observability.scrubbing import safe_message, scrub
from shared.observability.tracing import valid_traceparent
from shared.phones import is_phone
from shared.routing import PREFIX, ROUTES, STAFF_ROUTES
from tests.harness.text_costs import GROWTH, NOISE, cpu_seconds, too_dear
from tests.harness.text_places import Hostile

PROXIES = TrustedProxies(("0.0.0.0/0",), "x-forwarded-for")
HEADS: dict[str, Callable[[bytes], object]] = {
    "the request id": valid_request_id,
    "the trace": lambda raw: valid_traceparent(raw.decode("latin-1")),
    "the key": lambda raw: parse("spk_live_" + raw.decode("latin-1"), *KEY_HEADS),
    "the staff token": lambda raw: parse("stf_" + raw.decode("latin-1"), STAFF_HEAD),
    "the cookie": lambda raw: cookie_of([(b"cookie", raw)], PARTNER_COOKIE),
    "the entity tags": lambda raw: matches(b'"a"', [(IF_NONE_MATCH, raw)]),
    "the forwarded addresses": lambda raw: PROXIES.client_of("127.0.0.1", {b"x-forwarded-for": raw}),
    "the host": lambda raw: is_loopback(raw.decode("latin-1")),
    "the audited query": lambda raw: target_of(STAFF_ROUTES[0], {}, raw, ""),
    "the logged method": lambda raw: scrub(f'"method":"{raw.decode()}","request_id":"a@b"'),
    "an exception's text": lambda raw: safe_message(ValueError(raw.decode() + "@")),
    "a phone": lambda raw: is_phone(raw.decode(), "GB"),
}


@pytest.mark.parametrize("head", HEADS)
async def test_a_text_in_a_head_costs_its_size(head: str) -> None:
    """Most of them are read before anyone is authenticated, and every method is logged."""

    def cases(text: Hostile, size: int) -> Iterator[tuple[str, bytes]]:
        yield head, text.of_bytes(size).encode()

    async def use(raw: bytes) -> None:
        HEADS[head](raw)

    assert await too_dear(cases, use) == []


async def test_a_text_in_a_path_costs_its_size() -> None:
    """The gateway's table of routes."""
    routes = RouteTable(ROUTES, PREFIX)

    def cases(text: Hostile, size: int) -> Iterator[tuple[str, bytes]]:
        yield "path", f"{PREFIX}/forms/{text.of_bytes(size)}/submissions".encode()

    async def use(path: bytes) -> None:
        with contextlib.suppress(DomainError):
            routes.find("GET", path)

    assert await too_dear(cases, use) == []


async def test_a_long_line_in_small_pieces_is_not_copied_for_each_piece() -> None:
    """2 MiB in pieces of 256 bytes."""
    pieces = [b"x" * 256] * 8 * 1024 + [b"\ny"]

    async def use(count: int) -> None:
        left = iter(pieces[-count:])

        async def receive() -> Any:
            piece = next(left, None)
            return {"type": "http.request", "body": piece or b"", "more_body": piece is not None}

        assert [line async for line in lines_of(receive)] == [b"x" * 256 * (count - 1), b"y"]

    dear = min([await cpu_seconds(use, len(pieces)) for _ in range(2)])
    assert dear < GROWTH * await cpu_seconds(use, len(pieces) // 4) + NOISE
