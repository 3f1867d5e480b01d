"""Time zones of studios, from the copy that each service with phone numbers keeps."""

from collections.abc import Collection
from functools import cache
from zoneinfo import available_timezones

from shared.db.database import Connection, Database
from shared.errors import Problem
from shared.phones import phone_problems, region_of

# What a machine keeps beside the zones: no places, and not the same everywhere.
NOT_ZONES = ("Factory", "localtime", "posixrules", "posix/", "right/", "SystemV/")
# Read once: it takes 12 ms, and every line of an import asks.
_names = cache(available_timezones)


def zone_problem(name: str | None) -> str | None:
    """Why it cannot be the time zone of a studio or a location."""
    if name is None or (name in _names() and not name.startswith(NOT_ZONES)):
        return None
    return f"timezone {name!r} is not an IANA time zone."


TIMEZONES = "SELECT id, timezone FROM studios WHERE id = ANY ($1::uuid[])"


async def timezones_of(conn: Connection, studio_ids: Collection[str]) -> dict[str, str | None]:
    return {row["id"]: row["timezone"] for row in await conn.fetch(TIMEZONES, list(studio_ids))}


async def studio_region(conn: Connection, studio_id: str) -> str | None:
    """The country of phone numbers that come without a country code."""
    return region_of((await timezones_of(conn, [studio_id])).get(studio_id))


async def check_phone(db: Database, studio_id: str, phone: object) -> list[Problem]:
    """The studio is read only where the phone comes without a country code."""
    if not phone_problems(phone, None):
        return []
    async with db.connection() as conn:
        return phone_problems(phone, await studio_region(conn, studio_id))
