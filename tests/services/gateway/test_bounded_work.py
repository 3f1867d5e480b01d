"""Work per request is bounded by a small constant times its size: every route, by the server's CPU time.

The routes are those of the routing table, the bodies are made from each route's own struct: a new route is in
here by itself. See docs/decisions/0011-bounded-work.md.
"""

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from services.cli.demo import STUDIO_ID
from services.cli.openapi.operations import partner_routes
from services.gateway.routes.operator.audit_trail import target_of
from services.gateway.rules.console_cookie import PARTNER_COOKIE, cookie_of, is_loopback
from services.gateway.rules.key_text import KEY_HEADS, STAFF_HEAD, parse
from shared.errors import DomainError
from shared.http.client_address import TrustedProxies
from shared.http.response import IF_NONE_MATCH, matches
from shared.http.route_table import RouteTable
from shared.http.service import valid_request_id
from shared.observability.scrubbing import safe_message, scrub
from shared.observability.tracing import valid_traceparent
from shared.phones import is_phone
from shared.routing import PREFIX, ROUTES, STAFF_ROUTES, PartnerRoute
from shared.wire import new_id
from tests.harness.hostile import HEADERS, QUERIES, bodies_for, cpu_seconds
from tests.harness.system import System
from tests.harness.text_places import Hostile, too_dear
from tests.services.gateway.demo_ids import demo_ids_in

# The soak sends bodies of the largest size.
LARGE, LARGEST = 120 * 1024, 240 * 1024
# A body of 240 KiB takes 5 to 60 ms on a busy core. The quadratic pattern took minutes.
BUDGET = 0.6
CHEAP = 0.08
# Five times the size: a linear cost grows fivefold, a quadratic one 25-fold. Small figures are noisy.
GROWTH, NOISE = 10, 0.1
LARGEST_HEAD = 24 * 1024
HEAD_BUDGET = 0.15

WRITES = [route for route in ROUTES if route.method in ("POST", "PUT", "PATCH")]
OTHERS = [route for route in ROUTES if route not in WRITES]


def named(route: PartnerRoute) -> str:
    return f"{route.method} {route.path}"


def body_of(route: PartnerRoute) -> Any:
    return partner_routes()[route.method, route.path].body


class Attacker:
    """A partner with every scope and no rate limit, which can read the server's CPU time."""

    def __init__(self, system: System, key: str, ids: dict[str, str]) -> None:
        self._client = system.partner(key)
        self._ids = ids
        self._processes = list(system.running.processes.values())

    def _cpu_seconds(self) -> float:
        return sum(cpu_seconds(process.child.pid) for process in self._processes if process.child)

    async def cost(
        self, route: PartnerRoute, *, body: bytes | None = None, query: str = "", **headers: str
    ) -> float:
        # Nothing real is deleted, because other tests read it.
        ids = dict.fromkeys(self._ids, new_id()) if route.method == "DELETE" else self._ids
        path = route.path.format(**ids)
        before = self._cpu_seconds()
        response = await self._client.send(
            route.method,
            path + (f"?{query}" if query else ""),
            raw=body,
            headers={"Idempotency-Key": new_id()} | headers,
        )
        assert response.status < 500, (route.path, response.status, response.body[:200])
        assert len(response.body) < 1024 * 1024
        return self._cpu_seconds() - before


@pytest.fixture
async def attacker(system: System) -> Attacker:
    ids = await demo_ids_in(system)
    issued = await system.issue(studio=STUDIO_ID, client="test")
    await system.limit(issued)
    return Attacker(system, issued["key"], ids)


@pytest.mark.parametrize("route", WRITES, ids=named)
async def test_a_hostile_body_costs_a_small_constant_times_its_size(
    attacker: Attacker, route: PartnerRoute
) -> None:
    """The best of three runs counts, because background work is not the request's cost."""
    assert await too_dear_bodies(attacker, route, LARGE) == []


async def too_dear_bodies(
    attacker: Attacker, route: PartnerRoute, size: int
) -> list[tuple[str, float, float]]:
    """Name, CPU time of a fifth of the size, and of the whole size."""
    too_dear = []
    for name, made in bodies_for(body_of(route)):
        large, small = made(size), made(size // 5)
        for _ in range(3):
            dear = await attacker.cost(route, body=large)
            if dear < CHEAP:
                break
            cheap = await attacker.cost(route, body=small)
            if dear < BUDGET and dear < GROWTH * cheap + NOISE:
                break
        else:
            too_dear.append((name, round(cheap, 3), round(dear, 3)))
    return too_dear


@pytest.mark.parametrize("route", OTHERS, ids=named)
async def test_a_hostile_query_or_header_costs_next_to_nothing(
    attacker: Attacker, route: PartnerRoute
) -> None:
    """A head is small; nothing in it may start a long search."""
    too_dear = []
    cases: list[tuple[str, dict[str, Any]]] = [
        *((name, {"query": made(LARGEST_HEAD)}) for name, made in QUERIES.items()),
        *((name, {name: "a" * LARGEST_HEAD}) for name in HEADERS),
        *((f"{name} of digits", {name: "0-" * (LARGEST_HEAD // 2)}) for name in HEADERS),
    ]
    for name, how in cases:
        for _ in range(3):
            spent = await attacker.cost(route, **how)
            if spent < HEAD_BUDGET:
                break
        else:
            too_dear.append((name, round(spent, 3)))
    assert too_dear == []


TABLE = RouteTable(ROUTES, PREFIX)


def find_route(raw: bytes) -> None:
    with contextlib.suppress(DomainError):
        TABLE.find("GET", f"{PREFIX}/forms/".encode() + raw + b"/submissions")


PROXIES = TrustedProxies(("0.0.0.0/0",), "x-forwarded-for")
HEADS: dict[str, Callable[[bytes], object]] = {
    "the path": find_route,
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
