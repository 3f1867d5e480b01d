"""Sessions of the consoles: a link for a key, its exchange for a cookie, and an operator's sign-in."""

from collections.abc import Collection, Sequence
from datetime import datetime
from typing import Final

from services.gateway.access import OperatorAccess
from services.gateway.errors import BadOperatorToken, ConsoleLinkUsed, RevokedKey
from services.gateway.key_cache import BatchedLookup
from services.gateway.rules.key_text import (
    LINK_HEAD,
    hash_secret,
    make_link,
    make_operator_session,
    make_session,
    parse_session,
)
from services.gateway.store import console_sessions, operator_sessions
from services.gateway.wire.key import ConsoleSession, ConsoleSessionCreate
from shared.db.database import Database
from shared.errors import Invalid, Problem, RateLimited
from shared.http.caller import Caller
from shared.routing import SCOPES

# Of a client: links that are neither used nor expired. Requests at the same moment may exceed it slightly.
MAX_OPEN_LINKS: Final = 100


async def make_console_link(
    db: Database, peppers: Sequence[str], caller: Caller, wanted: ConsoleSessionCreate, origin: str
) -> ConsoleSession:
    """The token is in the fragment, which browsers do not send to servers, so it is in no request log."""
    scopes = _scopes(wanted.scopes, caller.scopes)
    link = make_link()
    link_hash = hash_secret(peppers[0], link.secret)
    async with db.transaction() as conn:
        wait = await console_sessions.seconds_until_room(conn, caller, MAX_OPEN_LINKS)
        if wait is not None:
            raise RateLimited(max(1, wait))
        expires_at = await console_sessions.add(
            conn, caller, link, link_hash=link_hash, scopes=scopes, seconds=wanted.expires_in
        )
    if expires_at is None:
        raise RevokedKey
    return ConsoleSession(url=f"{origin}/console#token={link.text}", expires_at=expires_at)


class OpenLinks:
    """Asks for many links at once, on behalf of guessers over their limit."""

    def __init__(self, db: Database) -> None:
        self._db = db
        self._open = BatchedLookup(self._look_up)

    async def may_be_open(self, token: str) -> bool:
        parsed = parse_session(token, LINK_HEAD)
        return parsed is not None and await self._open.wait_for(parsed.id)

    async def _look_up(self, session_ids: Sequence[str]) -> set[str]:
        async with self._db.connection() as conn:
            return await console_sessions.open_links(conn, session_ids)


async def exchange_link(db: Database, peppers: Sequence[str], token: str) -> tuple[str, datetime]:
    """Uses the link up. Returns the session's cookie and when the session ends."""
    parsed = parse_session(token, LINK_HEAD)
    if parsed is None:
        raise ConsoleLinkUsed
    session = make_session(parsed.id)
    hashes = [hash_secret(pepper, parsed.secret) for pepper in peppers]
    async with db.transaction() as conn:
        expires_at = await console_sessions.exchange(
            conn, parsed.id, hashes, hash_secret(peppers[0], session.secret)
        )
    if expires_at is None:
        raise ConsoleLinkUsed
    return session.text, expires_at


def _scopes(wanted: Collection[str] | None, held: Collection[str]) -> list[str]:
    if wanted is None:
        return [scope for scope in SCOPES if scope in held]
    if missing := sorted(set(wanted) - set(held)):
        text = f"The key does not have {', '.join(scope[:100] for scope in missing)}."
        raise Invalid([Problem(("body", "scopes"), text, "value_error")])
    return [scope for scope in SCOPES if scope in wanted]


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


BATCH: Final = 1_000


async def delete_expired_sessions(db: Database) -> bool:
    """One step of the loop, which goes on at once while there may be more."""
    async with db.transaction() as conn:
        deleted = await console_sessions.delete_expired(conn, BATCH)
        return max(deleted, await operator_sessions.delete_expired(conn, BATCH)) >= BATCH
