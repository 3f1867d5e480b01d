"""Making a person anonymous: whom, and what came of it."""

from msgspec import field

from shared.wire import Body, Id, Resource


class Erasure(Body, frozen=True, kw_only=True):
    """A person to make anonymous: a lead by id, or whoever has one of the emails."""

    studio_id: Id
    member_id: Id | None = None
    lead_id: Id | None = None
    emails: list[str] = field(default_factory=list)


class Erased(Resource, kw_only=True):
    """How many rows were made anonymous, and under which emails and ids the person was known here."""

    leads: int
    submissions: int
    emails: list[str]
    lead_ids: list[str]
