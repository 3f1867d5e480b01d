"""Compares the ledger, the database and the event log after a fault."""

import asyncio
import time
from collections import Counter

from msgspec import Struct

from tests.chaos.arena import Arena
from tests.chaos.ledger import Fact

SETTLE_SECONDS = 90.0
UNLOGGED = """
SELECT (SELECT count(*) FROM bookings.outbox) + (SELECT count(*) FROM forms.outbox)
     + (SELECT count(*) FROM catalog.outbox) + (SELECT count(*) FROM webhooks.outbox) AS n
"""
PENDING = "SELECT count(*) AS n FROM webhooks.deliveries WHERE status = 'pending' AND studio_id = ANY($1)"
# Where an event can be that has not arrived: its type and the id of its resource.
KEPT = """
SELECT 1 FROM (
    SELECT convert_from(body, 'UTF8') AS text FROM webhooks.events WHERE studio_id = $3
    UNION ALL SELECT convert_from(envelope, 'UTF8') FROM bookings.outbox
    UNION ALL SELECT convert_from(envelope, 'UTF8') FROM forms.outbox
    UNION ALL SELECT convert_from(envelope, 'UTF8') FROM webhooks.outbox
) AS kept WHERE strpos(text, $1) > 0 AND strpos(text, $2) > 0
"""
GAPS = """
SELECT count(*) AS events, coalesce(max(sequence), 0) AS last FROM webhooks.events WHERE studio_id = $1
"""
SEATS = """
SELECT c.id::text, c.booked_count, count(b.id) AS seated FROM bookings.classes c
LEFT JOIN bookings.bookings b ON b.studio_id = c.studio_id AND b.class_id = c.id AND b.status = 'confirmed'
WHERE c.studio_id = $1 GROUP BY c.id, c.booked_count HAVING c.booked_count <> count(b.id)
"""
# Members that were imported have a membership, others have none.
MADE = """
SELECT (SELECT count(*) FROM bookings.bookings WHERE studio_id = $1) AS booking,
       (SELECT count(*) FROM bookings.members WHERE studio_id = $1
            AND id NOT IN (SELECT member_id FROM bookings.memberships WHERE studio_id = $1)) AS member,
       (SELECT count(*) FROM forms.leads WHERE studio_id = $1) AS lead
"""


class Findings(Struct):
    """Each list holds sentences; all of them must be empty."""

    lost: list[str] = []
    duplicated: list[str] = []
    corrupted: list[str] = []
    stuck: list[str] = []


async def settle(arena: Arena, seconds: float = SETTLE_SECONDS) -> Findings:
    """Waits until everything that was acknowledged has arrived, and reports what has not."""
    found = Findings()
    deadline = time.monotonic() + seconds
    waiting = -1
    while time.monotonic() < deadline:
        if not arena.ledger.missing():
            waiting = await _waiting(arena)
            if waiting == 0:
                return found
        await asyncio.sleep(0.1)
    for fact in sorted(arena.ledger.missing()):
        await _sort(arena, fact, found)
    if waiting > 0:
        found.stuck.append(f"{waiting} outbox rows or deliveries stayed after {seconds:.0f} s")
    return found


async def _waiting(arena: Arena) -> int:
    unlogged = (await arena.rows(UNLOGGED))[0]["n"]
    return int(unlogged or (await arena.rows(PENDING, arena.studio_ids))[0]["n"])


async def _sort(arena: Arena, fact: Fact, found: Findings) -> None:
    """An event in an outbox or in the log is stuck. One that is nowhere is lost."""
    kind, resource_id = fact
    kept = await arena.rows(KEPT, f'"{kind}"', resource_id, arena.ledger.expected[fact].studio_id)
    (found.stuck if kept else found.lost).append(f"{kind} {resource_id} has not arrived everywhere")


async def balance(arena: Arena, found: Findings, known: set[str]) -> None:
    """Adds inconsistencies to `found`, except those that `known` has from earlier rounds."""
    ledger = arena.ledger
    for problem in ledger.duplicates():
        _add(found.duplicated, problem, known)
    for problem in (*ledger.problems, *ledger.compare(), *ledger.gaps()):
        _add(found.corrupted, problem, known)
    for studio_id in arena.studio_ids:
        await _balance_studio(arena, studio_id, found, known)
    for follower in arena.followers:
        for problem in await follower.problems(arena):
            _add(found.corrupted, problem, known)


async def _balance_studio(arena: Arena, studio_id: str, found: Findings, known: set[str]) -> None:
    [log] = await arena.rows(GAPS, studio_id)
    if log["events"] != log["last"]:
        text = f"the log of {studio_id} has {log['events']} events up to {log['last']}"
        _add(found.corrupted, text, known)
    for row in await arena.rows(SEATS, studio_id):
        text = f"class {row['id']} counts {row['booked_count']} and has {row['seated']}"
        _add(found.corrupted, text, known)
    [made] = await arena.rows(MADE, studio_id)
    writes = arena.ledger.writes.items()
    acknowledged = Counter(kind for (kind, _), write in writes if write.studio_id == studio_id)
    for resource, count in made.items():
        expected = acknowledged[f"{resource}.created"]
        if count != expected:
            text = f"{expected} of {resource} were acknowledged in {studio_id}, {count} are there"
            _add(found.duplicated if count > expected else found.lost, text, known)


def _add(problems: list[str], text: str, known: set[str]) -> None:
    if text not in known:
        known.add(text)
        problems.append(text)
