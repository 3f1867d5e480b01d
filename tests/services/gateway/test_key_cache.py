"""The gateway's keys in memory: only those in use, kept up to date, evicted when unused."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from services.gateway.errors import InvalidKey, RevokedKey
from services.gateway.key_cache import FORGET_SECONDS, PAGE, KeyCache
from services.gateway.rules.key_text import hash_secret, make_key
from services.gateway.store import clients
from shared.db.database import Database
from shared.http.caller import CallerSigner
from shared.wire import new_id
from tests.harness.database_layout import open_database

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
        signers = {"bookings": CallerSigner(("k" * 32,))}
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


async def test_a_clients_new_rate_reaches_its_keys(database_url: str) -> None:
    """Limits are read with the key."""
    async with open_keys(database_url) as keys:
        _, text = await keys.add()
        assert (await keys.cache.authenticate(text)).burst == 200
        async with keys.db.connection() as conn:
            await clients.set_limits(conn, keys.client_id, None, 7)
        await keys.cache.refresh()
        assert (await keys.cache.authenticate(text)).burst == 7


async def test_a_revoked_key_is_refused_after_the_next_poll(database_url: str) -> None:
    """However many keys are in memory, and also a key that was deleted by hand."""
    async with open_keys(database_url) as keys:
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


async def test_a_key_that_has_not_changed_stays_the_same_object(database_url: str) -> None:
    """Its signed headers and its sessions are kept; a change makes a new one."""
    async with open_keys(database_url) as keys:
        key_id, text = await keys.add()
        key = await keys.cache.authenticate(text)
        await keys.cache.refresh()
        assert await keys.cache.authenticate(text) is key
        await keys.sql("UPDATE keys SET name = 'renamed' WHERE id = $1", key_id)
        await keys.cache.refresh()
        assert (await keys.cache.authenticate(text)).name == "renamed"


async def test_a_key_that_nobody_uses_is_forgotten_and_still_works(database_url: str) -> None:
    """It is looked up again at its next use."""
    async with open_keys(database_url, forget_after=0.0) as keys:
        _, text = await keys.add()
        await keys.cache.authenticate(text)
        await keys.cache.refresh()
        assert len(keys.cache) == 0
        assert (await keys.cache.authenticate(text)).name == "key"
