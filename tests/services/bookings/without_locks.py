"""For positive controls: removes the locks from a test's own database."""

from tests.harness.databases import connected

NO_CLASS_LOCK = """
CREATE OR REPLACE FUNCTION bookings.lock_class(p_studio uuid, p_class uuid) RETURNS void
LANGUAGE plpgsql AS $$ BEGIN END $$
"""
NO_CLASS_LOCKS = """
CREATE OR REPLACE FUNCTION bookings.lock_classes(p_studio uuid, p_classes uuid[]) RETURNS void
LANGUAGE plpgsql AS $$ BEGIN END $$
"""
NO_MEMBER_LOCK = """
CREATE OR REPLACE FUNCTION bookings.lock_members(p_studio uuid, p_members uuid[]) RETURNS void
LANGUAGE plpgsql AS $$ BEGIN END $$
"""

NO_LOCK_AT_ONCE = """
CREATE OR REPLACE FUNCTION bookings.lock_free_{what}(p_studios uuid[], p_{what} uuid[], p_places bigint[])
RETURNS bigint[] LANGUAGE plpgsql AS $$ BEGIN RETURN p_places; END $$
"""


async def remove_row_locks(database_url: str) -> None:
    """Removes the constraint too: it would refuse a wrong booking, which would then be decided again."""
    async with connected(database_url) as conn:
        for statement in (NO_CLASS_LOCK, NO_CLASS_LOCKS, NO_MEMBER_LOCK):
            await conn.execute(statement)
        await conn.execute("ALTER TABLE bookings.members DROP CONSTRAINT members_credits_not_negative")
        for what in ("classes", "members"):
            await conn.execute(NO_LOCK_AT_ONCE.format(what=what))


async def remove_key_lock(database_url: str) -> None:
    """Every request gets its key at once, even if another holds it."""
    async with connected(database_url) as conn:
        text = await conn.fetchval("SELECT pg_get_functiondef('bookings.claim_keys'::regproc)")
        without = text.replace("pg_try_advisory_xact_lock", "0 <> ")
        assert without != text
        await conn.execute(without)


IN_ANY_ORDER = """
CREATE OR REPLACE FUNCTION bookings.lock_{what}(p_studio uuid, p_{what} uuid[]) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE one uuid;
BEGIN
    FOR one IN SELECT id FROM unnest(p_{what}) AS id ORDER BY random() LOOP
        PERFORM 1 FROM bookings.{what} WHERE studio_id = p_studio AND id = one FOR NO KEY UPDATE;
        PERFORM pg_sleep(0.02);
    END LOOP;
END $$
"""


async def lock_in_any_order(database_url: str, what: str) -> None:
    """`classes` or `members`: one by one, so that two transactions can wait for each other."""
    async with connected(database_url) as conn:
        await conn.execute(IN_ANY_ORDER.format(what=what))
