"""The gateway's keys in memory: only those in use, kept up to date, evicted when unused."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import datetime
from typing import Any

import pytest

from services.gateway.errors import InvalidKey, RevokedKey
from services.gateway.key_cache import FORGET_SECONDS, PAGE, KeyCache
from services.gateway.rules.key_text import hash_secret, make_key
from services.gateway.store import clients
from services.gateway.store import keys as key_store
from shared.db.database import Connection, Database
from shared.http.caller import ServiceSigners
from shared.wire import new_id
from tests.harness.database_layout import open_database
from tests.harness.eventually import eventually

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

    def __init__(self, db: Database, forget_after: float) -> None:
        self.db = db
        self.studio_id, self.client_id = new_id(), new_id()
        signers = ServiceSigners({"bookings": ("k" * 32,)})
        self.cache = KeyCache(db, (PEPPER,), signers, forget_after=forget_after)

    async def sql(self, text: str, *args: object) -> None:
        async with self.db.connection() as conn:
            await conn.execute(text, *args)

    async def add(self) -> tuple[str, str]:
        new = make_key(test=False)
        await self.sql(KEY, new.id, self.studio_id, self.client_id, hash_secret(PEPPER, new.secret))
        return new.id, new.text


@asynccontextmanager
async def open_keys(database_url: str, *, forget_after: float = FORGET_SECONDS) -> AsyncIterator[Keys]:
    db = await open_database(database_url, "gateway", size=3)
    try:
        keys = Keys(db, forget_after)
        await keys.sql(STUDIO, keys.studio_id)
        await keys.sql(CLIENT, keys.studio_id, keys.client_id)
        await keys.cache.refresh()
        yield keys
    finally:
        await db.close()


async def test_only_keys_in_use_are_in_memory(database_url: str) -> None:
    """100,000 unused keys take no memory, and no time to read them again."""
    async with open_keys(database_url) as keys:
        await keys.sql(MANY, keys.studio_id, keys.client_id, PAGE * 2)
        _, text = await keys.add()
        await keys.cache.refresh()
        assert len(keys.cache) == 0
        await keys.cache.authenticate(text)
        await keys.cache.refresh()
        assert len(keys.cache) == 1


async def test_a_change_is_found_among_thousands_with_the_same_stamp(database_url: str) -> None:
    """A page continues where the last one ended, even among equal timestamps."""
    async with open_keys(database_url) as keys:
        key_id, text = await keys.add()
        await keys.sql(MANY, keys.studio_id, keys.client_id, PAGE * 2)
        await keys.cache.authenticate(text)
        await keys.sql(
            "UPDATE keys SET changed_at = now(), id = CASE WHEN id = $1 THEN id ELSE gen_random_uuid() END,"
            " revoked_at = CASE WHEN id = $1 THEN now() END",
            key_id,
        )
        await keys.cache.refresh()
        with pytest.raises(RevokedKey):
            await keys.cache.authenticate(text)


async def test_a_clients_new_rate_reaches_its_keys(database_url: str) -> None:
    """Limits are read with the key."""
    async with open_keys(database_url) as keys:
        _, text = await keys.add()
        assert (await keys.cache.authenticate(text)).burst == 200
        async with keys.db.connection() as conn:
            await clients.set_limits(conn, keys.client_id, None, 7)
        await keys.cache.refresh()
        assert (await keys.cache.authenticate(text)).burst == 7


async def test_a_change_that_no_stamp_shows_is_found_by_reading_again(database_url: str) -> None:
    """After a clock was set back or a manual change: every key in memory is read again each minute."""
    async with open_keys(database_url) as keys:
        key_id, text = await keys.add()
        await keys.cache.authenticate(text)
        await keys.sql("UPDATE keys SET revoked_at = now() WHERE id = $1", key_id)
        await keys.cache.refresh()
        with pytest.raises(RevokedKey):
            await keys.cache.authenticate(text)
        await keys.sql("DELETE FROM keys WHERE id = $1", key_id)
        await keys.cache.refresh()
        with pytest.raises(InvalidKey):
            await keys.cache.authenticate(text)


async def test_a_key_that_nobody_uses_is_forgotten_and_still_works(database_url: str) -> None:
    """It is looked up again at its next use."""
    async with open_keys(database_url, forget_after=0.0) as keys:
        _, text = await keys.add()
        await keys.cache.authenticate(text)
        await keys.cache.refresh()
        assert len(keys.cache) == 0
        assert (await keys.cache.authenticate(text)).name == "key"


async def test_a_bulk_change_is_listed_once_and_not_at_every_poll(
    database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Otherwise every gateway would list 100,000 changed keys twice a second until the next change."""
    listed: list[int] = []
    changed_since = key_store.changed_since

    async def counting(*args: Any) -> list[tuple[datetime, str]]:
        page = await changed_since(*args)
        listed.append(len(page))
        return page

    monkeypatch.setattr(key_store, "changed_since", counting)

    async def rows_of_a_poll() -> int:
        listed.clear()
        await keys.cache.refresh()
        return sum(listed)

    async with open_keys(database_url) as keys:
        await keys.sql(MANY, keys.studio_id, keys.client_id, PAGE * 2 + 5)
        assert await rows_of_a_poll() == PAGE * 2 + 5

        async def nothing() -> bool:
            # Not at once if another transaction of this server was running.
            return await rows_of_a_poll() == 0

        await eventually(nothing)
        await keys.sql("UPDATE keys SET changed_at = clock_timestamp()")
        assert await rows_of_a_poll() == PAGE * 2 + 5, "control: the next change is listed"


LATE = "UPDATE keys SET revoked_at = now(), changed_at = now() - interval '5 min' WHERE id = $1"


async def key_in_use(keys: Keys) -> tuple[str, str]:
    """It is in memory, and not among the next few that are read again: that is a key at each poll."""
    for _ in range(4):
        await keys.cache.authenticate((await keys.add())[1])
    key_id, text = await keys.add()
    await keys.cache.authenticate(text)
    # Its use is recorded before its row is locked.
    await keys.cache.refresh()
    return key_id, text


async def test_a_change_that_is_committed_late_is_found_at_the_next_poll(database_url: str) -> None:
    """It was stamped before a change that the last poll has seen: minutes before, if its commit waited."""
    async with open_keys(database_url) as keys:
        key_id, text = await key_in_use(keys)
        async with keys.db.transaction() as slow:
            await slow.execute(LATE, key_id)
            await keys.add()
            await keys.cache.refresh()
            assert not (await keys.cache.authenticate(text)).revoked, "control"
        await keys.cache.refresh()
        with pytest.raises(RevokedKey):
            await keys.cache.authenticate(text)


async def test_a_change_after_a_failover_that_lost_transactions_is_found_at_the_next_poll(
    database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The new server gives the same transaction numbers again, lower than those that were seen before."""
    async with open_keys(database_url) as keys:
        key_id, text = await key_in_use(keys)
        position = key_store.position

        async def of_the_lost_server(conn: Connection) -> key_store.Position:
            real = await position(conn)
            return key_store.Position(real.at, real.oldest_running + 1_000)

        with monkeypatch.context() as before:
            before.setattr(key_store, "position", of_the_lost_server)
            await keys.cache.refresh()
        async with keys.db.transaction() as conn:
            await key_store.revoke(conn, key_id)
        await keys.add()
        await keys.cache.refresh()
        with pytest.raises(RevokedKey):
            await keys.cache.authenticate(text)
