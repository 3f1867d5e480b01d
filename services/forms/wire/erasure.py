"""The result of erasing a person."""

from shared.wire import Resource


class Erased(Resource, kw_only=True):
    """How many rows were anonymized, and the emails and ids that this service had for the person."""

    leads: int
    submissions: int
    emails: list[str]
    lead_ids: list[str]
