"""Makes a link into the partner console."""

from collections.abc import Collection, Sequence
from typing import Final

from services.gateway.errors import RevokedKey
from services.gateway.rules.key_text import LINK_HEAD, hash_secret, make_token
from services.gateway.store import console_sessions
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
    scopes = scopes_of_link(wanted.scopes, caller.scopes)
    link = make_token(LINK_HEAD)
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


def scopes_of_link(wanted: Collection[str] | None, held: Collection[str]) -> list[str]:
    """Raises if the key may not pass one of them on."""
    if wanted is None:
        wanted = held
    if missing := sorted(set(wanted) - set(held)):
        text = f"The key does not have {', '.join(scope[:100] for scope in missing)}."
        raise Invalid([Problem(("body", "scopes"), text, "value_error")])
    return [scope for scope in SCOPES if scope in wanted]
