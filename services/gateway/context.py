"""What the operators' routes and actions share."""

from collections.abc import Mapping
from typing import TypeVar

import msgspec
from msgspec import Struct

from services.gateway.key_cache import KeyCache
from services.gateway.upstream import NotReached, OutcomeUnknown, Upstream, UpstreamResponse
from shared.db.database import Database
from shared.errors import Unavailable, UpstreamTimeout
from shared.http.caller import CALLER_HEADER, REQUEST_ID_HEADER, Caller, CallerSigner, Role
from shared.http.health import Check
from shared.wire import encode

T = TypeVar("T")


class OperatorContext(Struct, frozen=True):
    db: Database
    key_cache: KeyCache
    peppers: tuple[str, ...]
    signers: Mapping[str, CallerSigner]
    upstreams: Mapping[str, Upstream]
    # The gateway's own checks, for its line in the status.
    checks: Mapping[str, Check]
    # Where browsers reach the partner port.
    public_origin: str = "http://127.0.0.1:8080"

    async def ask(
        self,
        kind: type[T],
        owner: str,
        method: str,
        target: str,
        *,
        request_id: str,
        studio_id: str = "",
        body: object = None,
    ) -> T:
        """What a service answers to an internal request. Anything but 200 is `Unavailable`: try again."""
        response = await self.call_service(
            owner,
            method,
            target,
            request_id=request_id,
            studio_id=studio_id,
            body=b"" if body is None else encode(body),
        )
        if response.status != 200:
            raise Unavailable(f"The {owner} service answered {response.status}; try again.")
        return msgspec.json.decode(response.body, type=kind)

    async def call_service(
        self,
        owner: str,
        method: str,
        target: str,
        *,
        studio_id: str = "",
        request_id: str,
        scope: str | None = None,
        role: Role = "operator",
        body: bytes = b"",
        content_type: bytes = b"application/json",
    ) -> UpstreamResponse:
        """One request to a service on an operator's behalf. A partner route also needs its scope."""
        scopes = frozenset({scope} if scope else ())
        caller = Caller(studio_id=studio_id, actor="operator", role=role, scopes=scopes)
        signed = self.signers[owner].sign(caller)
        headers = [(CALLER_HEADER, signed), (REQUEST_ID_HEADER, request_id.encode())]
        if body:
            headers.append((b"content-type", content_type))
        try:
            return await self.upstreams[owner].request(method.encode(), target.encode(), headers, body)
        except NotReached:
            raise Unavailable(f"The {owner} service is unavailable; nothing was done there.") from None
        except OutcomeUnknown:
            raise UpstreamTimeout(f"The {owner} service did not answer in time.") from None
