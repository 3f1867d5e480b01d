"""The two consoles' sign-in, over the sessions of partners and of operators."""

from services.gateway.access import OperatorAccess
from services.gateway.actions.open_console import OpenLinks, exchange_link
from services.gateway.actions.open_operator_console import open_operator_console
from services.gateway.errors import ConsoleLinkUsed
from services.gateway.routes.console_sign_in import ConsoleSignIn, OpenedSession
from services.gateway.rules.console_cookie import OPERATOR_COOKIE, PARTNER_COOKIE
from services.gateway.rules.rate_limit import FailedKeyLimits
from services.gateway.session_cache import SessionCache
from services.gateway.wire.key import OperatorSignedIn, SignedIn
from shared.db.database import Database
from shared.http.client_address import TrustedProxies


def partner_sign_in(
    db: Database,
    peppers: tuple[str, ...],
    sessions: SessionCache,
    failed: FailedKeyLimits,
    proxies: TrustedProxies,
) -> ConsoleSignIn:
    links = OpenLinks(db)

    async def sign_in(token: str, batched: bool) -> OpenedSession:
        if batched and not await links.may_be_open(token):
            raise ConsoleLinkUsed
        cookie, expires_at = await exchange_link(db, peppers, token)
        return OpenedSession(cookie, expires_at, SignedIn(expires_at=expires_at))

    async def sign_out(cookie: str, batched: bool) -> None:
        await sessions.end(cookie, batched=batched)

    return ConsoleSignIn(PARTNER_COOKIE, sign_in, sign_out, failed, proxies)


def operator_sign_in(
    db: Database,
    peppers: tuple[str, ...],
    access: OperatorAccess,
    failed: FailedKeyLimits,
    proxies: TrustedProxies,
) -> ConsoleSignIn:
    async def sign_in(token: str, batched: bool) -> OpenedSession:
        cookie, expires_at, caller = await open_operator_console(db, peppers, access, token, batched=batched)
        signed_in = OperatorSignedIn(
            expires_at=expires_at, role=caller.role, studio_id=caller.studio_id or None
        )
        return OpenedSession(cookie, expires_at, signed_in)

    async def sign_out(cookie: str, batched: bool) -> None:
        await access.end_session(cookie, batched=batched)

    return ConsoleSignIn(OPERATOR_COOKIE, sign_in, sign_out, failed, proxies)
