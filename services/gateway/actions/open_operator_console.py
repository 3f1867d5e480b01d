"""Sign in to the operators' console: exchange a token for a session of twelve hours."""

from datetime import datetime
from typing import Final

from services.gateway.access import OperatorAccess
from services.gateway.errors import BadOperatorToken
from services.gateway.rules.key_text import hash_secret, make_operator_session
from services.gateway.store import operator_sessions
from shared.db.database import Database
from shared.http.caller import Caller

SESSION_SECONDS: Final = 12 * 3600


async def open_operator_console(
    db: Database, peppers: tuple[str, ...], access: OperatorAccess, token: str, *, batched: bool = False
) -> tuple[str, datetime, Caller]:
    """Returns the cookie, when the session ends, and whom it belongs to."""
    caller = await access.holder_of(token.encode("utf-8", "replace"), batched=batched)
    if caller is None:
        raise BadOperatorToken
    new = make_operator_session()
    staff = bool(caller.studio_id)
    async with db.transaction() as conn:
        expires_at = await operator_sessions.add(
            conn,
            new,
            secret_hash=hash_secret(peppers[0], new.secret),
            token_hash=None if staff else hash_secret(peppers[0], token),
            studio_id=caller.studio_id if staff else None,
            staff_token_id=caller.key_id if staff else None,
            seconds=SESSION_SECONDS,
        )
    return new.text, expires_at, caller
