"""The gateway's keys in memory: only those in use, looked up in batches, kept up to date, their use noted."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import asyncpg
import pytest

from services.gateway.errors import InvalidKey, RevokedKey
from services.gateway.key_cache import PAGE, KeyCache
from services.gateway.rules.key_text import hash_secret, make_key
from services.gateway.secret_lookup import INTERVAL_SECONDS, LARGEST_BATCH, BatchedLookup
from services.gateway.store.keys import record_use
from shared.db.database import Database
from shared.http.caller import LIFETIME_SECONDS, CallerSigner
from shared.wire import new_id

PEPPER = "p" * 32
STUDIO = "INSERT INTO studios (id, name) VALUES ($1, 'Flow')"
CLIENT = "INSERT INTO clients (studio_id, id, name, rate, burst) VALUES ($1, $2, 'partner', 50, 200)"
KEY = """
INSERT INTO keys (id, studio_id, client_id, name, prefix, secret_hash, scopes)
VALUES ($1, $2, $3, 'key', 'spk', $4, '{}')
"""
MANY = """
INSERT INTO keys (id, studio_id, client_id, name, prefix, secret_hash, scopes)
SELECT gen_random_uuid(), $1, $2, 'key', 'spk', '', '{}' FROM generate_series(1, $3::int)
"""


class Keys:
    """One client's keys in the database, and a cache of them."""

    def __init__(self, db: Database) -> None:
        self.db = db
        self.studio_id, self.client_id = new_id(), new_id()
        signers = {"bookings": CallerSigner(("k" * 32,))}
        self.cache = KeyCache(db, (PEPPER,), signers)

    async def sql(self, text: str, *args: object) -> None:
        async with self.db.connection() as conn:
            await conn.execute(text, *args)

    async def add(self) -> tuple[str, str]:
        new = make_key(test=False)
        await self.sql(KEY, new.id, self.studio_id, self.client_id, hash_secret(PEPPER, new.secret))
        return new.id, new.text


@pytest.fixture
async def keys(db: Database) -> Keys:
    keys = Keys(db)
    await keys.sql(STUDIO, keys.studio_id)
    await keys.sql(CLIENT, keys.studio_id, keys.client_id)
    await keys.cache.refresh()
    return keys


async def test_only_keys_in_use_are_in_memory(keys: Keys) -> None:
    """100,000 unused keys take no memory, and no time to read them again.

    One that nobody uses any more is forgotten. It is looked up again at its next use.
    """
    await keys.sql(MANY, keys.studio_id, keys.client_id, PAGE * 2)
    _, text = await keys.add()
    await keys.cache.refresh()
    assert len(keys.cache) == 0
    forgetful = KeyCache(keys.db, (PEPPER,), {}, forget_after=0.0)
    for cache, kept in ((keys.cache, 1), (forgetful, 0)):
        await cache.authenticate(text)
        await cache.refresh()
        assert len(cache) == kept
    assert (await forgetful.authenticate(text)).name == "key"


async def test_a_revoked_key_is_refused_after_the_next_poll(keys: Keys) -> None:
    """However many keys are in memory, and also a key that was deleted by hand."""
    added = [await keys.add() for _ in range(3)]
    await keys.sql(MANY, keys.studio_id, keys.client_id, PAGE * 2)
    async with keys.db.connection() as conn:
        others = [row["id"] for row in await conn.fetch("SELECT id FROM keys")]
    for other in others:
        await keys.cache.live(other)
    (first, text), (second, other_text), (_, stays) = added
    for one in (text, other_text, stays):
        await keys.cache.authenticate(one)
    await keys.cache.refresh()
    await keys.sql("UPDATE keys SET revoked_at = now() WHERE id = $1", first)
    await keys.sql("DELETE FROM keys WHERE id = $1", second)
    await keys.cache.refresh()
    with pytest.raises(RevokedKey):
        await keys.cache.authenticate(text)
    with pytest.raises(InvalidKey):
        await keys.cache.authenticate(other_text)
    assert not (await keys.cache.authenticate(stays)).revoked


class RecordedLookups:
    """What was looked up, batch by batch. `known` are the ids that exist."""

    def __init__(self, *known: str) -> None:
        self.known = set(known)
        self.batches: list[Sequence[str]] = []

    async def look_up(self, ids: Sequence[str]) -> set[str]:
        self.batches.append(ids)
        return self.known & set(ids)


async def test_those_who_come_together_cost_one_query() -> None:
    """However many requests there are, and however often for the same key."""
    lookups = RecordedLookups("a")
    lookup = BatchedLookup(lookups.look_up)
    started = asyncio.get_running_loop().time()
    await asyncio.gather(*(lookup.wait_for(key) for key in ("a", "b", "a", "c") * 20))
    assert lookups.batches == [["a", "b", "c"]]
    await asyncio.gather(*(lookup.wait_for(key) for key in ("b", "c", "d")))
    assert lookups.batches[1:] == [["d"]]
    assert asyncio.get_running_loop().time() - started > INTERVAL_SECONDS * 0.9


async def test_a_flood_of_made_up_keys_is_one_bounded_query() -> None:
    """The rest are refused without a query."""
    lookups = RecordedLookups()
    lookup = BatchedLookup(lookups.look_up)
    many = LARGEST_BATCH * 3
    await asyncio.gather(*(lookup.wait_for(str(number)) for number in range(many)))
    assert [len(batch) for batch in lookups.batches] == [LARGEST_BATCH]


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
    assert await _noted_by_two_gateways(database_url, record_use) == [timedelta()] * 8


async def test_without_an_order_they_do_deadlock(database_url: str) -> None:
    """The control: the same two writers, rows updated in the order in which they come."""
    with pytest.raises(asyncpg.DeadlockDetectedError):
        await _noted_by_two_gateways(database_url, _unordered)


async def test_a_clock_that_is_set_back_leaves_no_caller_that_expires(
    keys: Keys, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was signed by the clock before is renewed: else what another service gets for the first time now
    would expire in a minute and be sent for as long as the clock was ahead."""
    clock = time.time() + 3600
    monkeypatch.setattr("services.gateway.key_cache.time.time", lambda: clock)
    _, text = await keys.add()
    key = await keys.cache.authenticate(text)
    ahead = keys.cache.signed_caller(key, "bookings")
    assert keys.cache.signed_caller(key, "bookings") == ahead
    clock -= 3600
    back = keys.cache.signed_caller(key, "bookings")
    assert back != ahead
    clock += LIFETIME_SECONDS - 1
    assert keys.cache.signed_caller(key, "bookings") != back
