"""The person to erase, in one form for every service that stores personal data."""

from shared.wire import Body, Id


class PersonToErase(Body, frozen=True, kw_only=True):
    """The members and leads that are this person, and the emails that may find more of them.

    The event log knows that all of these are erased. If the emails find anybody else, a service names them
    and erases nobody: the log must know first, because an erased row no longer shows whose it was.
    """

    studio_id: Id
    member_ids: tuple[Id, ...] = ()
    lead_ids: tuple[Id, ...] = ()
    emails: tuple[str, ...] = ()
