"""Readiness: which parts a service needs to answer, and which only work beside its requests."""

import json
from typing import Any

from shared.http.health import Check, OptionalCheck, readiness


async def _asked(checks: dict[str, Check]) -> tuple[int, str]:
    told: list[tuple[int, str]] = []

    async def write(scope: Any, send: Any, body: bytes, status: int) -> None:
        told.append((status, json.loads(body)["status"]))

    nothing: Any = None
    await readiness(checks, write)(nothing, nothing, nothing)
    return told[0]


async def _well() -> str | None:
    return None


async def _away() -> str | None:
    return "the database does not answer"


async def test_a_part_beside_the_requests_degrades_and_does_not_take_them_away() -> None:
    """While the broker is down bookings go on: a cluster must go on sending them here."""
    trouble: list[str | None] = [None]
    checks: dict[str, Check] = {"database": _well, "bus": OptionalCheck(lambda: trouble[0])}
    assert await _asked(checks) == (200, "ready")
    trouble[0] = "not connected"
    assert await _asked(checks) == (200, "degraded")
    assert await _asked({**checks, "database": _away}) == (503, "not_ready")


async def test_a_part_beside_that_was_never_well_is_waited_for() -> None:
    """A roll-out with a wrong broker address stops at its first pod."""
    checks: dict[str, Check] = {"database": _well, "bus": OptionalCheck(lambda: "not connected")}
    assert await _asked(checks) == (503, "not_ready")
