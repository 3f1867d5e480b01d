"""Whom the operators want made anonymous: one form for every service that keeps something of a person."""

from shared.wire import Body, Id


class PersonToErase(Body, frozen=True, kw_only=True):
    """By any of these: a lead may have become a member, and an event may name either."""

    studio_id: Id
    member_id: Id | None = None
    lead_id: Id | None = None
    emails: tuple[str, ...] = ()
