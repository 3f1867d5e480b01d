"""The answer of a write is kept with its effect, and given again byte for byte."""

import hashlib

from msgspec import Struct

from services.bookings.errors import IdempotencyKeyReused
from services.bookings.store.idempotency import Claim, Kept
from shared.errors import Conflict, DomainError, NotFound
from shared.http.answer import Answer
from shared.http.caller import Caller
from shared.http.error_mapping import answer_for
from shared.observability.metrics import REPLAYS
from shared.wire import encode

REPLAYED = ((b"idempotent-replayed", b"true"),)


class Keyed(Struct, frozen=True):
    """A request that must take effect once: its key, and what tells it from another one with the same key."""

    key: str
    fingerprint: bytes

    def kept(self, answer: Answer, *, resource_id: str | None, class_id: str | None) -> Kept:
        return Kept(
            key=self.key,
            fingerprint=self.fingerprint,
            http_status=answer.status,
            body=answer.body,
            resource_id=resource_id,
            class_id=class_id,
        )


def keyed(key: str, method: str, route: str, *parts: object) -> Keyed:
    """The parts are validated values, so that an omitted default and a spelt-out one are the same request."""
    return Keyed(key, hashlib.sha256(encode((method, route, *parts))).digest())


def replay(request: Keyed, claim: Claim, caller: Caller) -> Answer:
    """Another key of the same client may see fewer locations than the first one did: checked again."""
    if claim.fingerprint != request.fingerprint:
        raise IdempotencyKeyReused
    if claim.class_id is not None and not caller.may_see(claim.location_id):
        raise NotFound
    assert claim.body is not None and claim.http_status is not None
    REPLAYS.labels("bookings").inc()
    return Answer(claim.body, claim.http_status, REPLAYED)


Refused = (NotFound, Conflict)
"""The refusals that are kept and replayed; whatever else goes wrong leaves no trace."""


def refused(problem: DomainError, caller: Caller) -> Answer:
    answer = answer_for(problem, caller.request_id)
    return Answer(answer.body, answer.status, answer.headers)
