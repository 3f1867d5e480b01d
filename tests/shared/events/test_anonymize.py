"""What erasure leaves of a stored event."""

from typing import Any

from shared.events.anonymize import anonymize, merge_anonymized

ADA, BOB = "11111111-1111-4111-8111-111111111111", "22222222-2222-4222-8222-222222222222"
EMAILS = frozenset({"ada@love.example"})
OLD = {"first_name": "Adah", "email": "old@love.example", "phone": "+12125550123", "role": "lead"}


def erased(data: dict[str, Any]) -> dict[str, Any]:
    cleaned: dict[str, Any] = anonymize(data, {ADA}, EMAILS)
    return cleaned


def test_old_values_of_the_person_are_blanked() -> None:
    """They are next to the person's object and do not contain the person's id: an old name, an old email."""
    data = {"object": {"id": ADA, "object": "member", "first_name": "Ada"}, "previous": OLD}
    assert erased(data)["previous"] == {
        "first_name": "",
        "email": "erased-person@erased.invalid",
        "phone": None,
        "role": "lead",
    }


def test_the_person_is_found_by_email_too() -> None:
    """A lead has an id of its own. Its email shows that it is the person."""
    data = {"object": {"id": BOB, "object": "lead", "email": "Ada@Love.example"}, "previous": OLD}
    assert erased(data)["previous"]["first_name"] == ""


def test_the_reason_of_an_old_pause_goes_with_the_member() -> None:
    """Staff wrote it about the person. The dates of the pause stay."""
    pause = {"reason": "a broken leg", "until": "2030-01-01T00:00:00Z"}
    membership = {"id": BOB, "object": "membership", "member_id": ADA, "pause": None}
    data = {"object": membership, "previous": {"pause": pause, "status": "paused"}}
    assert erased(data)["previous"] == {"pause": pause | {"reason": None}, "status": "paused"}


def test_old_values_of_others_stay() -> None:
    """Nothing of an event about somebody else changes."""
    data = {"object": {"id": BOB, "object": "member", "first_name": "Bob"}, "previous": OLD}
    assert erased(data) == data


def test_copies_anonymized_for_different_people_are_merged_to_one_without_either() -> None:
    """Whichever copy is the newer one, the result is that of erasing both from the original."""
    ada = {"id": ADA, "email": "ada@love.example", "name": "Ada", "phone": "+1", "metadata": {"pet": "Rex"}}
    bob = {"id": BOB, "email": None, "name": "Bob", "source": "his aunt", "data": {"a": 1}, "notes": "late"}
    original = {"object": {"members": [ada, bob], "reason": None}, "previous": {"count": 0, "full": False}}
    without_ada, without_bob = erased(original), anonymize(original, {BOB}, set())
    both = anonymize(without_ada, {BOB}, set())
    assert merge_anonymized(without_ada, without_bob) == both
    assert merge_anonymized(without_bob, without_ada) == both
    assert merge_anonymized(original, original) == original
