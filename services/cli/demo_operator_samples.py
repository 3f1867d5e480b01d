"""What the samples in the operators' reference name: a key and a staff token with fixed ids.

Their secrets are not kept, so nobody can use them.
"""

from typing import Final

from services.cli.demo.fixed import KEY_ID, STAFF_TOKEN_ID
from services.cli.demo.ids import STUDIO_ID
from services.gateway.rules.key_text import NewKey, hash_secret, make_key, make_staff_token
from services.gateway.store import clients, keys, staff_tokens
from shared.db.database import Connection, Database
from shared.settings import Settings

NAME: Final = "For the samples in the reference"
SCOPES: Final = ("schedule:read",)
KNOWN: Final = "SELECT 1 FROM keys WHERE id = $1"


async def add_operator_samples(settings: Settings) -> None:
    assert settings.database_url is not None
    db = await Database.connect(settings.database_url, "gateway", size=1)
    try:
        async with db.transaction() as conn:
            if await conn.fetchval(KNOWN, KEY_ID) is None:
                await _add(conn)
    finally:
        await db.close()


async def _add(conn: Connection) -> None:
    key, token = make_key(test=False, known_id=KEY_ID), make_staff_token(STAFF_TOKEN_ID)
    await keys.add(
        conn,
        key,
        secret_hash=_hash_for_nobody(key),
        studio_id=STUDIO_ID,
        client_id=await clients.ensure(conn, STUDIO_ID, NAME),
        name=NAME,
        scopes=SCOPES,
        location_ids=None,
        lifetime=None,
    )
    await staff_tokens.add(
        conn, STUDIO_ID, token, name=NAME, role="staff", secret_hash=_hash_for_nobody(token)
    )


def _hash_for_nobody(key: NewKey) -> bytes:
    """With the secret as its own pepper, which no gateway has."""
    return hash_secret(key.secret, key.secret)
