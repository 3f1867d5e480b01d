"""What the operators' routes and actions share."""

import hmac
from collections.abc import Mapping

from msgspec import Struct

from services.gateway.errors import BadOperatorToken
from services.gateway.key_cache import KeyCache
from services.gateway.upstream import NotReached, OutcomeUnknown, Upstream, UpstreamAnswer
from shared.db.database import Database
from shared.errors import Unavailable, UpstreamTimeout
from shared.http.caller import CALLER_HEADER, REQUEST_ID_HEADER, Caller, ServiceSigners
from shared.http.health import Check


class OperatorContext(Struct, frozen=True):
    db: Database
    key_cache: KeyCache
    peppers: tuple[str, ...]
    signers: ServiceSigners
    upstreams: Mapping[str, Upstream]
    # The gateway's own, for its line of the status.
    checks: Mapping[str, Check]

    async def call_service(
        self,
        owner: str,
        method: str,
        target: str,
        *,
        studio_id: str = "",
        request_id: str,
        scope: str | None = None,
        body: bytes = b"",
        content_type: bytes = b"application/json",
    ) -> UpstreamAnswer:
        """One request to a service in the operators' name; a partner's route needs its scope too."""
        scopes = frozenset({scope} if scope else ())
        caller = Caller(studio_id=studio_id, actor="operator", scopes=scopes)
        signed = self.signers.sign(owner, caller)
        headers = [(CALLER_HEADER, signed), (REQUEST_ID_HEADER, request_id.encode())]
        if body:
            headers.append((b"content-type", content_type))
        try:
            return await self.upstreams[owner].request(method.encode(), target.encode(), headers, body)
        except NotReached:
            raise Unavailable(f"The {owner} service is unavailable; nothing was done there.") from None
        except OutcomeUnknown:
            raise UpstreamTimeout(f"The {owner} service did not answer in time.") from None


class OperatorTokens:
    """Accepts all configured tokens, so that the token can be rotated."""

    def __init__(self, tokens: tuple[str, ...]) -> None:
        self._tokens = tuple(token.encode() for token in tokens)

    def accepts(self, headers: Mapping[bytes, bytes]) -> bool:
        kind, _, token = headers.get(b"authorization", b"").partition(b" ")
        return kind.lower() == b"bearer" and any(hmac.compare_digest(token, known) for known in self._tokens)

    def verify(self, headers: Mapping[bytes, bytes], request_id: str) -> Caller:
        if not self.accepts(headers):
            raise BadOperatorToken
        return Caller(studio_id="", actor="operator", request_id=request_id)
