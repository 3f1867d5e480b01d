"""The person to erase, in one form for every service that stores personal data."""

from shared.wire import Body, Id


class PersonToErase(Body, frozen=True, kw_only=True):
    """Identified by any of these fields: a lead may have become a member, and an event may name either."""

    studio_id: Id
    member_id: Id | None = None
    lead_id: Id | None = None
    emails: tuple[str, ...] = ()
