"""The first half of a booking, for many at once: claim the keys, lock, read the facts."""

from collections.abc import Sequence
from datetime import datetime
from itertools import pairwise

import msgspec
from msgspec import Struct

from services.bookings.rules.facts import BookingFacts, ClassFacts, LiveBooking, MemberFacts, SpotFacts
from services.bookings.store.idempotency import Claim, claim_of
from shared.db.database import Connection
from shared.http.caller import Caller


class FactsRead(Struct, frozen=True, kw_only=True):
    """As the database tells them: class or member may be unknown."""

    now: datetime
    class_: ClassFacts | None
    member: MemberFacts | None
    live: LiveBooking | None
    spots: list[SpotFacts]

    def complete(self) -> BookingFacts:
        assert self.class_ is not None and self.member is not None
        return BookingFacts(
            now=self.now, class_=self.class_, member=self.member, live=self.live, spots=self.spots
        )


_facts = msgspec.json.Decoder(FactsRead)


class Asked(Struct, frozen=True):
    studio_id: str
    client_id: str
    key: str
    class_id: str
    member_id: str


START = """
SELECT state, fingerprint, http_status, body, class_id, location_id, facts
FROM start_bookings($1::uuid[], $2::text[], $3::text[], $4::uuid[], $5::uuid[], $6)
"""


async def start(
    conn: Connection, asked: Sequence[Asked], *, patient: bool
) -> list[tuple[Claim, FactsRead | None]]:
    """Facts come with a new key only; class and member are locked then. Patient asks are all of one class."""
    if patient:
        assert len({ask.class_id for ask in asked}) == 1
        assert all(a.member_id <= b.member_id for a, b in pairwise(asked))
    rows = await conn.fetch(
        START,
        [ask.studio_id for ask in asked],
        [ask.client_id for ask in asked],
        [ask.key for ask in asked],
        [ask.class_id for ask in asked],
        [ask.member_id for ask in asked],
        patient,
    )
    return [
        (claim_of(row), _facts.decode(row["facts"]) if row["facts"] is not None else None) for row in rows
    ]


async def look(conn: Connection, caller: Caller, class_id: str, member_id: str) -> FactsRead:
    """The same facts without a lock, for a preview."""
    text = await conn.fetchval("SELECT booking_facts($1, $2, $3)", caller.studio_id, class_id, member_id)
    return _facts.decode(text)
