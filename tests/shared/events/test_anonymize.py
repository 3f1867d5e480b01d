"""Whose personal data an event carries, and what an erasure leaves of it."""

from typing import Any

import pytest
from msgspec import Raw

from shared.events.anonymize import person_in, without_person
from shared.events.event import EventResource
from shared.wire import encode

ADA, CARD = "11111111-1111-4111-8111-111111111111", "22222222-2222-4222-8222-222222222222"


@pytest.mark.parametrize(
    ("kind", "resource_id", "shown", "person"),
    [
        ("member", ADA, {"first_name": "Ada"}, ADA),
        ("lead", ADA, {"email": "ada@love.example"}, ADA),
        ("membership", CARD, {"member_id": ADA, "pause": {"reason": "a broken leg"}}, ADA),
        ("membership", CARD, {}, None),
        ("booking", CARD, {"member_id": ADA}, None),
        ("form_submission", CARD, {"form_id": ADA}, None),
    ],
)
def test_an_event_belongs_to_the_person_whose_data_it_shows(
    kind: str, resource_id: str, shown: dict[str, Any], person: str | None
) -> None:
    """A booking shows no more than the member's id, so it stays as it is."""
    data = Raw(encode({"object": {"id": resource_id, "object": kind} | shown, "previous": {"name": "Ada"}}))
    assert person_in(EventResource(kind, resource_id, 1), data) == person


def test_nothing_but_the_ids_is_left() -> None:
    """Old values go too. `{id, object}` tells whoever keeps a copy to fetch the resource again."""
    left = without_person(EventResource("member", ADA, 1))
    assert bytes(left) == b'{"object":{"id":"%s","object":"member"}}' % ADA.encode()
