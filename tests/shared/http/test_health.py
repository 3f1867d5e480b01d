"""Readiness: the parts that requests need, and those they can do without."""

import json
from typing import Any

from shared.http.health import Check, OptionalCheck
from shared.http.service import health_routes


async def _readiness(checks: dict[str, Check]) -> tuple[int, str]:
    sent: list[Any] = []

    async def send(message: Any) -> None:
        sent.append(message)

    nothing: Any = None
    await health_routes(checks)["/health/ready"]({"headers": []}, nothing, send)
    return sent[0]["status"], json.loads(sent[1]["body"])["status"]


async def _ok() -> str | None:
    return None


async def _unavailable() -> str | None:
    return "the database does not answer"


async def test_an_optional_part_degrades_readiness_and_keeps_the_requests() -> None:
    """While the broker is down bookings continue, so the cluster must keep sending requests here."""
    trouble: list[str | None] = [None]
    checks: dict[str, Check] = {"database": _ok, "bus": OptionalCheck(lambda: trouble[0])}
    assert await _readiness(checks) == (200, "ready")
    trouble[0] = "not connected"
    assert await _readiness(checks) == (200, "degraded")
    assert await _readiness({**checks, "database": _unavailable}) == (503, "not_ready")


async def test_an_optional_part_must_have_worked_once() -> None:
    """A rollout with a wrong broker address stops at its first pod."""
    checks: dict[str, Check] = {"database": _ok, "bus": OptionalCheck(lambda: "not connected")}
    assert await _readiness(checks) == (503, "not_ready")
