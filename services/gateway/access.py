"""Who calls the operators' API: the holder of the operator token, or one studio's staff."""

import hmac
from collections.abc import Mapping
from contextvars import ContextVar

from services.gateway.errors import BadOperatorToken
from services.gateway.rules.key_text import hash_secret, parse_staff_token
from services.gateway.store import staff_tokens, studios
from shared.db.database import Database
from shared.http.caller import Caller

STUDIOS = "/operator/v1/studios/"
OPERATOR = Caller(studio_id="", actor="operator", role="operator")
# Who was recognised at the door of this request. `verify` is called further in, where nothing can be awaited.
_recognised: ContextVar[Caller | None] = ContextVar("operator_caller", default=None)


class OperatorAccess:
    """Accepts all configured operator tokens, so that the token can be rotated, and live staff tokens.

    A staff token is looked up for each request: few requests come here, and a revoked one ends at once.
    """

    def __init__(self, tokens: tuple[str, ...], db: Database | None, peppers: tuple[str, ...]) -> None:
        self._tokens = tuple(token.encode() for token in tokens)
        self._db = db
        self._peppers = peppers

    async def recognise(self, headers: Mapping[bytes, bytes], path: str) -> bool:
        """Must be called at the door of each request, before anything asks `verify`.

        Another studio's path is unknown to staff, whatever route or role it would need.
        """
        kind, _, token = headers.get(b"authorization", b"").partition(b" ")
        caller = None
        if kind.lower() == b"bearer":
            known = any(hmac.compare_digest(token, one) for one in self._tokens)
            caller = OPERATOR if known else await self._staff(token, path)
        _recognised.set(caller)
        return caller is not None

    def verify(self, headers: Mapping[bytes, bytes], request_id: str) -> Caller:
        caller = _recognised.get()
        if caller is None:
            raise BadOperatorToken
        return caller.with_request_id(request_id)

    async def _staff(self, token: bytes, path: str) -> Caller | None:
        parsed = parse_staff_token(token.decode("latin-1"))
        if parsed is None or self._db is None:
            return None
        async with self._db.connection() as conn:
            row = await staff_tokens.presented(conn, parsed.id)
            if row is None:
                return None
            hashes = [hash_secret(pepper, parsed.secret) for pepper in self._peppers]
            if not any(hmac.compare_digest(one, row["secret_hash"]) for one in hashes):
                return None
            if row["stale"] or not hmac.compare_digest(hashes[0], row["secret_hash"]):
                await staff_tokens.record_use(conn, row["studio_id"], parsed.id, hashes[0])
        named = path.removeprefix(STUDIOS).partition("/")[0] if path.startswith(STUDIOS) else ""
        if named and named.lower() not in (row["studio_id"], row["slug"]):
            raise studios.unknown(named)
        return Caller(studio_id=row["studio_id"], key_id=parsed.id, actor="operator", role=row["role"])
