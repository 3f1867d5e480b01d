"""The operators' request to make a person anonymous."""

from shared.wire import Body, Id, Resource


class PersonToErase(Body, frozen=True, kw_only=True):
    studio_id: Id
    member_id: Id | None = None
    lead_id: Id | None = None
    emails: tuple[str, ...] = ()


class Erased(Resource, kw_only=True):
    """How many rows were made anonymous, and under which emails and ids the person was known here."""

    members: int
    emails: list[str]
    member_ids: list[str]
