"""When keys were last used: several gateways record the same keys at the same time."""

import asyncio
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import asyncpg
import pytest

from services.gateway.store import keys

Note = Callable[[Any, dict[str, datetime]], Awaitable[None]]
# Each row takes a moment, so that both writers run when they meet. The remaining join types follow the
# order of the list; which plan is chosen elsewhere is the planner's business.
SETTING = """
INSERT INTO gateway.studios (id, name) VALUES (gen_random_uuid(), 'Flow');
INSERT INTO gateway.clients (studio_id, id, name, rate, burst)
    SELECT id, gen_random_uuid(), 'partner', 50, 200 FROM gateway.studios;
INSERT INTO gateway.keys (id, studio_id, client_id, name, prefix, secret_hash, scopes)
    SELECT gen_random_uuid(), c.studio_id, c.id, 'key ' || n, 'spk', '', '{}'
    FROM gateway.clients c, generate_series(1, 8) AS n;
CREATE FUNCTION gateway.slowly() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN PERFORM pg_sleep(0.03); RETURN NEW; END $$;
CREATE TRIGGER slowly BEFORE UPDATE ON gateway.keys FOR EACH ROW EXECUTE FUNCTION gateway.slowly();
"""
IN_LIST_ORDER = "SET search_path TO gateway; SET enable_hashjoin = off; SET enable_mergejoin = off"
UNORDERED = """
UPDATE keys SET last_used_at = greatest(last_used_at, used.at)
FROM unnest($1::uuid[], $2::timestamptz[]) AS used (id, at) WHERE keys.id = used.id
"""


async def _unordered(conn: Any, used: dict[str, datetime]) -> None:
    await conn.execute(UNORDERED, list(used), list(used.values()))


async def _noted_by_two_gateways(database_url: str, note: Note) -> list[timedelta]:
    """One updates the keys forwards, the other backwards. Returns the keys' state afterwards."""
    one, other = [await asyncpg.connect(database_url) for _ in range(2)]
    try:
        await one.execute(SETTING)
        await asyncio.gather(one.execute(IN_LIST_ORDER), other.execute(IN_LIST_ORDER))
        ids = [row["id"] for row in await one.fetch("SELECT id FROM keys ORDER BY id")]
        early = datetime.now(UTC)
        late = early + timedelta(seconds=1)
        await asyncio.gather(
            note(one, dict.fromkeys(map(str, ids), late)),
            note(other, dict.fromkeys(map(str, reversed(ids)), early)),
        )
        rows = await one.fetch("SELECT last_used_at, $1::timestamptz AS late FROM keys", late)
        return [row["last_used_at"] - row["late"] for row in rows]
    finally:
        await asyncio.gather(one.close(), other.close())


async def test_two_gateways_note_the_same_keys_without_a_deadlock(database_url: str) -> None:
    """Rows are locked in one order, whatever the order of use; the later use is stored."""
    assert await _noted_by_two_gateways(database_url, keys.record_use) == [timedelta()] * 8


async def test_without_an_order_they_do_deadlock(database_url: str) -> None:
    """The control: the same two writers, rows updated in the order in which they come."""
    with pytest.raises(asyncpg.DeadlockDetectedError):
        await _noted_by_two_gateways(database_url, _unordered)
