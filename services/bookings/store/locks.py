"""The lock order. Every action follows it, so that no two of them can deadlock:

1. the idempotency key (an advisory lock, shared/http/idempotency), before anything else is locked;
2. the class row; in a move both class rows, and in an import all of them, in id order;
3. member rows, in id order, all in one statement;
4. everything else (bookings, waitlist, memberships, purchases), only under the lock of its class or member.

A batch of bookings takes the locks that are free, in any order, and skips the rest: a transaction that never
waits cannot deadlock. The skipped requests run again class by class, in the order above.

Read facts in a later statement than the one that takes the lock: a statement that waits for a lock continues
with the snapshot from before the wait. The SQL is in functions/locks_and_claims.sql.
"""

from collections.abc import Iterable
from datetime import datetime

import msgspec
from msgspec import Struct

from services.bookings.rules.booking_facts import ClassFacts, MemberFacts, SpotFacts
from shared.db.database import Connection
from shared.http.caller import Caller

CLASS_FACTS = """
SELECT class_facts(c, instant.now) AS facts, instant.now
FROM classes c, (SELECT clock_timestamp() AS now OFFSET 0) instant WHERE c.studio_id = $1 AND c.id = $2
"""


class LockedClass(Struct, frozen=True):
    """`now` is the database's clock after the lock was taken."""

    class_: ClassFacts
    now: datetime


async def lock_class(conn: Connection, caller: Caller, class_id: str) -> LockedClass | None:
    """`ClassChanges.lock` also expires the holds that have run out: whoever decides on seats uses that."""
    await conn.execute("SELECT lock_class($1, $2)", caller.studio_id, class_id)
    return await read_class(conn, caller, class_id)


async def read_class(conn: Connection, caller: Caller, class_id: str) -> LockedClass | None:
    row = await conn.fetchrow(CLASS_FACTS, caller.studio_id, class_id)
    return LockedClass(msgspec.json.decode(row["facts"], type=ClassFacts), row["now"]) if row else None


LOCKED_FACTS = CLASS_FACTS.replace("= $2", "= ANY ($2::uuid[])")


async def lock_classes(conn: Connection, caller: Caller, class_ids: Iterable[str]) -> dict[str, LockedClass]:
    """Those that exist, by id."""
    ids = sorted(set(class_ids))
    await conn.execute("SELECT lock_classes($1, $2::uuid[])", caller.studio_id, ids)
    rows = await conn.fetch(LOCKED_FACTS, caller.studio_id, ids)
    found = [LockedClass(msgspec.json.decode(row["facts"], type=ClassFacts), row["now"]) for row in rows]
    return {locked.class_.id: locked for locked in found}


MEMBER_FACTS = """
SELECT coalesce(json_agg(member_facts(m)), '[]')
FROM members m WHERE m.studio_id = $1 AND m.id = ANY ($2::uuid[])
"""


async def lock_members(conn: Connection, caller: Caller, member_ids: Iterable[str]) -> dict[str, MemberFacts]:
    ids = sorted(set(member_ids))
    await conn.execute("SELECT lock_members($1, $2::uuid[])", caller.studio_id, ids)
    text = await conn.fetchval(MEMBER_FACTS, caller.studio_id, ids)
    return {member.id: member for member in msgspec.json.decode(text, type=list[MemberFacts])}


async def read_spots(conn: Connection, caller: Caller, class_id: str, now: datetime) -> list[SpotFacts]:
    text = await conn.fetchval("SELECT spot_facts($1, $2, $3)", caller.studio_id, class_id, now)
    return msgspec.json.decode(text, type=list[SpotFacts])
