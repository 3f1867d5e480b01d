"""The first half of a booking, for a whole batch: claim the keys, take the locks, read the facts."""

from collections.abc import Sequence
from datetime import datetime
from itertools import pairwise

import msgspec
from msgspec import Struct
from msgspec.structs import astuple

from services.bookings.rules.booking_facts import (
    BookingFacts,
    ClassFacts,
    HoldFacts,
    LiveBooking,
    MemberFacts,
    SpotFacts,
)
from shared.db.database import Connection
from shared.http.caller import Caller
from shared.http.idempotency.stored_responses import Claim


class StoredFacts(Struct, frozen=True, kw_only=True):
    """What the database knows: the class or the member may not exist."""

    now: datetime
    class_: ClassFacts | None
    member: MemberFacts | None
    live: LiveBooking | None
    spots: list[SpotFacts]
    holds: HoldFacts | None = None

    @property
    def holds_due(self) -> bool:
        """Holds of the class have run out: whoever has its lock expires them before anything is decided."""
        return self.class_ is not None and self.class_.holds_due > 0

    def complete(self) -> BookingFacts:
        assert self.class_ is not None and self.member is not None
        return BookingFacts(
            now=self.now,
            class_=self.class_,
            member=self.member,
            live=self.live,
            spots=self.spots,
            holds=self.holds,
        )


_decoder = msgspec.json.Decoder(StoredFacts)


class ClaimRequest(Struct, frozen=True):
    studio_id: str
    client_id: str
    key: str
    class_id: str
    member_id: str
    # The client, where it asks for a hold.
    holder: str | None


class Claimed(Struct, frozen=True):
    """The class is told for a stored response, if it is still there, and the facts for a new key."""

    claim: Claim
    class_id: str | None
    location_id: str | None
    facts: StoredFacts | None


CLAIM_AND_LOCK = """
SELECT state, fingerprint, http_status, body, class_id, location_id, facts
FROM start_bookings($1::uuid[], $2::text[], $3::text[], $4::uuid[], $5::uuid[], $6::text[], $7)
"""


async def claim_and_lock(conn: Connection, requests: Sequence[ClaimRequest], *, wait: bool) -> list[Claimed]:
    """The class and the member of a new key are locked.

    With `wait` the requests must all be for one class, in member-id order (see store/locks.py).
    """
    if wait:
        assert len({request.class_id for request in requests}) == 1
        assert all(a.member_id <= b.member_id for a, b in pairwise(requests))
    rows = await conn.fetch(
        CLAIM_AND_LOCK,
        *zip(*map(astuple, requests), strict=True),
        wait,
    )
    return [
        Claimed(
            Claim(*row[:4]),
            row["class_id"],
            row["location_id"],
            _decoder.decode(row["facts"]) if row["facts"] is not None else None,
        )
        for row in rows
    ]


async def read_facts(
    conn: Connection, caller: Caller, class_id: str, member_id: str, holder: str | None
) -> StoredFacts:
    """The same facts without a lock, for a preview."""
    request = ([caller.studio_id], [class_id], [member_id], [holder])
    text = await conn.fetchval("SELECT facts FROM booking_facts($1, $2, $3, $4)", *request)
    return _decoder.decode(text)
