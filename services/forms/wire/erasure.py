"""What came of making a person anonymous."""

from shared.wire import Resource


class Erased(Resource, kw_only=True):
    """How many rows were made anonymous, and under which emails and ids the person was known here."""

    leads: int
    submissions: int
    emails: list[str]
    lead_ids: list[str]
