"""Ids and timestamps that are the same on every machine and every day."""

from datetime import UTC, datetime
from typing import Final
from uuid import UUID, uuid5

Line = dict[str, object]

NAMESPACE: Final = UUID("6f0d7c0e-5f3c-5b0a-9a3e-7d4a3f9c2b11")


def demo_id(kind: str, name: str) -> str:
    return str(uuid5(NAMESPACE, f"{kind}/{name}"))


STUDIO_ID: Final = demo_id("studio", "demo")


def line(kind: str, name: str, /, **fields: object) -> Line:
    return {"object": kind, "id": demo_id(kind, name), "studio_id": STUDIO_ID, **fields}


def instant(moment: datetime) -> str:
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def day(month: int, day_of_month: int, hour: int = 15) -> str:
    """A timestamp in the studio's past. It is fixed, so that a second import changes nothing."""
    return instant(datetime(2026, month, day_of_month, hour, tzinfo=UTC))
