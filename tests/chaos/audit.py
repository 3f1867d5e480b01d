"""Compares the ledger, the database and the event log after a fault."""

import asyncio
import time
from pathlib import Path

from msgspec import Struct

from tests.chaos.arena import Arena
from tests.chaos.ledger import Fact

SETTLE_SECONDS = 90.0
UNLOGGED = """
SELECT (SELECT count(*) FROM bookings.outbox) + (SELECT count(*) FROM forms.outbox)
     + (SELECT count(*) FROM webhooks.outbox) AS n
"""
PENDING = "SELECT count(*) AS n FROM webhooks.deliveries WHERE status = 'pending'"
KEPT = """
SELECT 1 FROM webhooks.events WHERE strpos(convert_from(body, 'UTF8'), $1) > 0
UNION ALL SELECT 1 FROM bookings.outbox WHERE strpos(convert_from(envelope, 'UTF8'), $1) > 0
UNION ALL SELECT 1 FROM forms.outbox WHERE strpos(convert_from(envelope, 'UTF8'), $1) > 0
"""
GAPS = """
SELECT count(*) AS events, coalesce(max(sequence), 0) AS last FROM webhooks.events WHERE studio_id = $1
"""
SEATS = """
SELECT c.id::text, c.booked_count, count(b.id) AS seated FROM bookings.classes c
LEFT JOIN bookings.bookings b ON b.studio_id = c.studio_id AND b.class_id = c.id AND b.status = 'confirmed'
WHERE c.studio_id = $1 GROUP BY c.id, c.booked_count HAVING c.booked_count <> count(b.id)
"""
MADE = "SELECT count(*) AS n FROM bookings.bookings WHERE studio_id = $1"


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
    return int(unlogged or (await arena.rows(PENDING))[0]["n"])


async def _sort(arena: Arena, fact: Fact, found: Findings) -> None:
    """An event in an outbox or in the log is stuck. One that is nowhere is lost."""
    kind, resource_id = fact
    kept = await arena.rows(KEPT, resource_id)
    (found.stuck if kept else found.lost).append(f"{kind} {resource_id} has not arrived everywhere")


async def balance(arena: Arena, found: Findings, known: set[str]) -> None:
    """Adds inconsistencies to `found`, except those that `known` has from earlier rounds."""
    ledger, studio = arena.ledger, arena.system.studio_id
    for problem in ledger.duplicates():
        _add(found.duplicated, problem, known)
    for problem in (*ledger.problems, *ledger.compare()):
        _add(found.corrupted, problem, known)
    [log] = await arena.rows(GAPS, studio)
    if log["events"] != log["last"]:
        _add(found.corrupted, f"the log has {log['events']} events up to {log['last']}", known)
    for row in await arena.rows(SEATS, studio):
        text = f"class {row['id']} counts {row['booked_count']} and has {row['seated']}"
        _add(found.corrupted, text, known)
    [made] = await arena.rows(MADE, studio)
    acknowledged = sum(kind == "booking.created" for kind, _ in ledger.writes)
    if made["n"] != acknowledged:
        text = f"{acknowledged} bookings were acknowledged, {made['n']} are there"
        _add(found.duplicated if made["n"] > acknowledged else found.lost, text, known)


def _add(problems: list[str], text: str, known: set[str]) -> None:
    if text not in known:
        known.add(text)
        problems.append(text)


def log_lines(folder: Path, request_id: str, limit: int = 20) -> list[str]:
    """What the services logged about one request."""
    found = []
    for path in sorted(folder.glob("*.log")):
        with path.open(errors="replace") as lines:
            found += [f"{path.name}: {line.rstrip()}" for line in lines if request_id in line]
    return found[:limit]
