"""The caller, in a short-lived signed header. The gateway signs it and every service verifies it."""

import base64
import hashlib
import hmac
import time
from collections.abc import Mapping
from datetime import datetime
from typing import Final, Literal

import msgspec
from msgspec import UNSET, Struct, UnsetType

from shared.errors import Forbidden, Unauthenticated
from shared.events.event import Data, Event, EventResource, Kind
from shared.observability.tracing import valid_traceparent
from shared.wire import now

# Who may do what in the operators' API. A higher role may do what a lower one may.
Role = Literal["staff", "manager", "operator"]
ROLES: Final[tuple[Role, ...]] = ("staff", "manager", "operator")


class InsufficientRole(Forbidden):
    code = "insufficient_role"
    message = "The token's role does not allow this."

    def __init__(self, required: Role, held: Role) -> None:
        super().__init__(
            f"This needs the role {required}; the token has the role {held}.",
            details={"required_role": required, "role": held},
        )


def require_role(held: Role, required: Role) -> None:
    if ROLES.index(held) < ROLES.index(required):
        raise InsufficientRole(required, held)


CALLER_HEADER = b"x-studio-caller"
REQUEST_ID_HEADER = b"x-request-id"
TRACE_HEADER = b"traceparent"
LIFETIME_SECONDS = 60

Actor = Literal["client", "operator"]


class Caller(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Every store function takes one, so that forgetting the studio does not type-check."""

    studio_id: str
    client_id: str = ""
    key_id: str = ""
    scopes: frozenset[str] = frozenset()
    location_ids: tuple[str, ...] | None = None
    actor: Actor = "client"
    # The part of a class's seats that the client may hold at once, as a decimal number. None: a third.
    hold_share: str | None = None
    # Counts only for the actor "operator".
    role: Role = "operator"
    request_id: str = ""
    traceparent: str | None = None

    def with_request_id(self, request_id: str) -> "Caller":
        return msgspec.structs.replace(self, request_id=request_id)

    def event(
        self,
        kind: Kind,
        resource_id: str,
        version: int,
        data: Data,
        *,
        location_id: str | None = None,
        previous: Data | UnsetType = UNSET,
        at: datetime | None = None,
    ) -> Event:
        """An event of what this caller has done."""
        return Event(
            kind=kind,
            studio_id=self.studio_id,
            location_id=location_id,
            resource=EventResource(kind.resource, resource_id, version),
            data=data,
            previous=previous,
            request_id=self.request_id or None,
            traceparent=self.traceparent,
            created_at=at or now(),
        )

    def may_see(self, location_id: str | None) -> bool:
        """A limited key sees its own locations only; what has no location is hidden from it."""
        return self.location_ids is None or (location_id is not None and location_id in self.location_ids)


class _Signed(Struct, frozen=True):
    """What is in the header."""

    caller: Caller
    expires: int


class CallerSigner:
    """A service's key is valid for that service only: whoever learns it cannot sign for another one."""

    def __init__(self, keys: tuple[str, ...]) -> None:
        self._key = keys[0].encode()

    def sign(self, caller: Caller, *, at: float | None = None) -> bytes:
        expires = int(at if at is not None else time.time()) + LIFETIME_SECONDS
        payload = base64.urlsafe_b64encode(msgspec.json.encode(_Signed(caller, expires)))
        return payload + b"." + _mac(self._key, payload)


class CallerVerifier:
    """Accepts every key it was given, so that the signing key can be rotated."""

    # The gateway reuses a header for seconds, so remembering verified ones saves nearly every decode.
    CACHE_SIZE = 4096

    def __init__(self, keys: tuple[str, ...]) -> None:
        self._keys = tuple(key.encode() for key in keys)
        self._verified: dict[bytes, _Signed] = {}

    def verify(self, headers: Mapping[bytes, bytes], request_id: str) -> Caller:
        header = headers.get(CALLER_HEADER)
        if header is None:
            raise Unauthenticated("This service answers the gateway only.")
        verified = self._verified.get(header) or self._check(header)
        if verified.expires < time.time():
            self._verified.pop(header, None)
            raise Unauthenticated("The caller header has expired.")
        trace = headers.get(TRACE_HEADER)
        return msgspec.structs.replace(
            verified.caller,
            request_id=request_id,
            traceparent=valid_traceparent(trace.decode("latin-1")) if trace else None,
        )

    def _check(self, header: bytes) -> _Signed:
        payload, _, mac = header.rpartition(b".")
        if not any(hmac.compare_digest(_mac(key, payload), mac) for key in self._keys):
            raise Unauthenticated("The caller header is not signed by the gateway.")
        if len(self._verified) >= self.CACHE_SIZE:
            self._verified.clear()
        signed = msgspec.json.decode(base64.urlsafe_b64decode(payload), type=_Signed)
        self._verified[header] = signed
        return signed


def _mac(key: bytes, payload: bytes) -> bytes:
    return base64.urlsafe_b64encode(hmac.digest(key, payload, hashlib.sha256))
