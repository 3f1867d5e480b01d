"""Finds inconsistencies in a studio's data: whatever is stored twice must agree."""

from typing import Any

from tests.services.bookings.studio_client import StudioClient

COUNTERS = """
SELECT c.id FROM classes c WHERE c.studio_id = $1 AND (
    c.booked_count <> (SELECT count(*) FROM bookings b WHERE b.studio_id = c.studio_id AND b.class_id = c.id
        AND b.status IN ('confirmed', 'checked_in'))
 OR c.held_count <> (SELECT count(*) FROM bookings b WHERE b.studio_id = c.studio_id AND b.class_id = c.id
        AND b.status = 'held')
 OR c.waitlist_count <> (SELECT count(*) FROM waitlist w WHERE w.studio_id = c.studio_id
        AND w.class_id = c.id AND w.status = 'waiting'))
"""
POSITIONS = """
SELECT class_id FROM waitlist WHERE studio_id = $1 AND status = 'waiting'
GROUP BY class_id HAVING count(*) <> max(position) OR count(DISTINCT position) <> count(*)
"""
PAIRS = """
SELECT b.id FROM bookings b FULL JOIN (SELECT * FROM waitlist WHERE status = 'waiting') w
    ON w.studio_id = b.studio_id AND w.booking_id = b.id
WHERE coalesce(b.studio_id, w.studio_id) = $1
  AND (b.status = 'waitlisted' OR w.id IS NOT NULL)
  AND (b.status = 'waitlisted') IS DISTINCT FROM (w.id IS NOT NULL)
"""
OVERBOOKED = """
SELECT id FROM classes WHERE studio_id = $1 AND booked_count + live_holds(studio_id, id) > capacity
"""
IDLE_SEATS = """
SELECT id FROM classes WHERE studio_id = $1 AND status = 'scheduled' AND start_time > now()
  AND booked_count + held_count < capacity AND waitlist_count > 0
"""
RECEIPTS = """
SELECT b.id FROM bookings b LEFT JOIN cancellations c ON c.studio_id = b.studio_id AND c.booking_id = b.id
WHERE b.studio_id = $1 AND (b.status = 'cancelled') <> (c.id IS NOT NULL)
"""
CREDITS = """
SELECT m.id FROM members m WHERE m.studio_id = $1 AND m.credits <>
    coalesce((SELECT sum(p.credits_granted) FROM purchases p
        WHERE p.studio_id = $1 AND p.member_id = m.id), 0)
  - coalesce((SELECT sum(b.credits_charged) FROM bookings b
        WHERE b.studio_id = $1 AND b.member_id = m.id), 0)
  - coalesce((SELECT sum(r.credits_forfeited) FROM reschedules r JOIN bookings b
        ON b.studio_id = $1 AND b.id = r.booking_id WHERE r.studio_id = $1 AND b.member_id = m.id), 0)
  + coalesce((SELECT sum(c.credits_restored) FROM cancellations c JOIN bookings b
        ON b.studio_id = $1 AND b.id = c.booking_id WHERE c.studio_id = $1 AND b.member_id = m.id), 0)
"""
CHECKS = {
    "counter": COUNTERS,
    "positions": POSITIONS,
    "waitlist pair": PAIRS,
    "overbooked": OVERBOOKED,
    "idle seat while people wait": IDLE_SEATS,
    "receipt": RECEIPTS,
    "credits": CREDITS,
}


async def failed_checks(client: StudioClient, *names: str) -> list[str]:
    async with client.service.db.connection() as conn:
        found = {name: await conn.fetch(CHECKS[name], client.caller.studio_id) for name in names}
    return [f"{name}: {row[0]}" for name, rows in found.items() for row in rows]


async def inconsistencies(client: StudioClient, *, may_overbook: bool = False) -> list[str]:
    """Empty when all is consistent. `may_overbook`: staff have lowered a capacity below the booked count."""
    names = [name for name in CHECKS if not (may_overbook and name == "overbooked")]
    problems = await failed_checks(client, *names)
    cancelled = await client.list_all("/bookings", limit=200, status="cancelled")
    bookings = await client.list_all("/bookings", limit=200)
    return problems + _miscounted(await client.events(), bookings, cancelled)


def _miscounted(events: list[Any], bookings: list[Any], cancelled: list[Any]) -> list[str]:
    """One `booking.created` per booking, one `booking.cancelled` per cancelled one, growing versions."""
    problems = []
    told: dict[str, list[str]] = {}
    versions: dict[str, int] = {}
    for event in events:
        resource = event["resource"]
        told.setdefault(event["type"], []).append(resource["id"])
        if resource["version"] <= versions.get(resource["id"], 0):
            problems.append(f"version of {resource['id']} went from {versions[resource['id']]}")
        versions[resource["id"]] = resource["version"]
    expected = {
        "booking.created": [row["id"] for row in bookings],
        "booking.cancelled": [row["id"] for row in cancelled],
    }
    for kind, ids in expected.items():
        if sorted(told.get(kind, [])) != sorted(ids):
            problems.append(f"{kind} was told {len(told.get(kind, []))} times for {len(ids)} bookings")
    return problems
