"""The result of erasing a person."""

from shared.wire import Resource


class Erased(Resource, kw_only=True):
    """How many members were anonymized, and the emails and ids that this service had for the person."""

    members: int
    emails: list[str]
    member_ids: list[str]
