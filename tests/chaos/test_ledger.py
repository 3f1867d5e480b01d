"""The ledger detects each kind of damage."""

import json
import time
from typing import Any

from services.webhooks.rules.signing import new_secret, signature, signing_key
from tests.chaos.ledger import Endpoint, Ledger
from tests.chaos.receiver import Post

SECRET = new_secret()
STUDIO = "studio-1"


def ledger() -> Ledger:
    return Ledger({"ordered": Endpoint(STUDIO, True, SECRET), "unordered": Endpoint(STUDIO, False, SECRET)})


def post(
    event_id: str,
    resource_id: str,
    *,
    sequence: int = 1,
    secret: str = SECRET,
    studio_id: str = STUDIO,
    version: int = 1,
    path: str = "/hook",
    at: float = 1,
    **data: Any,
) -> Post:
    event = {
        "id": event_id,
        "type": "member.created",
        "studio_id": studio_id,
        "resource": {"object": "member", "id": resource_id, "version": version},
        "data": {"object": data},
    }
    body = json.dumps(event).encode()
    stamp = int(at)
    signed = signature([signing_key(secret)], event_id, stamp, body)
    headers = {"webhook-id": event_id, "webhook-sequence": str(sequence), "webhook-timestamp": str(stamp)}
    return Post(path, headers | {"webhook-signature": signed}, body)


def acknowledge(book: Ledger, resource_id: str, **fields: Any) -> None:
    book.acknowledge(("member.created", resource_id), STUDIO, fields)


def damage(book: Ledger) -> list[str]:
    return book.problems + book.compare() + book.duplicates() + [str(fact) for fact in book.missing()]


def test_a_write_that_every_endpoint_accepted_is_no_damage() -> None:
    """Repeats with the same id and bytes are allowed: delivery is at least once."""
    book = ledger()
    acknowledge(book, "m1", email="a@example.com")
    for endpoint in ("ordered", "unordered", "ordered"):
        book.note(endpoint, post("e1", "m1", email="a@example.com"), True)
    assert damage(book) == []


def test_an_event_that_one_endpoint_has_not_accepted_is_missing() -> None:
    """The event arrived, but the response was not a success, so it must arrive again."""
    book = ledger()
    acknowledge(book, "m1")
    book.note("ordered", post("e1", "m1"), True)
    book.note("unordered", post("e1", "m1"), False)
    assert damage(book) == ["('member.created', 'm1')"]


def test_two_events_for_one_write_and_an_event_for_none_are_duplicates() -> None:
    """A write that was carried out twice shows up as one or the other."""
    book = ledger()
    acknowledge(book, "m1")
    for event_id, resource_id in (("e1", "m1"), ("e2", "m1"), ("e3", "m2")):
        for endpoint in book.endpoints:
            book.note(endpoint, post(event_id, resource_id), True)
    assert len(book.duplicates()) == 2


def test_other_bytes_other_fields_and_a_wrong_signature_are_corruption() -> None:
    """Anything that would mislead a partner."""
    book = ledger()
    acknowledge(book, "m1", email="a@example.com")
    book.note("unordered", post("e1", "m1", email="b@example.com"), True)
    assert len(book.compare()) == 1
    book.note("unordered", post("e1", "m1", email="a@example.com"), True)
    assert any("two bodies" in problem for problem in book.problems)
    book.note("unordered", post("e2", "m1", secret=new_secret()), True)
    assert any("wrong signature" in problem for problem in book.problems)


def test_only_a_fifo_endpoint_must_keep_the_order() -> None:
    """Only the first acceptance of an event counts: a repeat of an older one is allowed."""
    for endpoint, disordered in (("ordered", True), ("unordered", False)):
        book = ledger()
        book.note(endpoint, post("e1", "m1", sequence=1), True)
        book.note(endpoint, post("e3", "m3", sequence=3), True)
        book.note(endpoint, post("e1", "m1", sequence=1), True)
        assert not book.problems
        book.note(endpoint, post("e2", "m2", sequence=2), True)
        assert bool(book.problems) is disordered


def test_another_studios_event_and_a_number_that_never_came_are_corruption() -> None:
    """An endpoint gets the events of its own studio, numbered without gaps."""
    book = ledger()
    book.note("unordered", post("e1", "m1", sequence=1), True)
    assert not book.gaps()
    book.note("unordered", post("e3", "m3", sequence=3), True)
    assert len(book.gaps()) == 1
    assert not book.problems
    book.note("unordered", post("e4", "m4", sequence=4, studio_id="studio-2"), True)
    assert any("another studio" in problem for problem in book.problems)


def test_a_person_disappears_from_events_and_is_not_sent_after_the_answer() -> None:
    """While an erasure runs either form may come, from the next second on only the one without the person."""
    book = ledger()
    acknowledge(book, "m1", email="a@example.com")
    book.begin_erasure("m1", "a@example.com")
    book.note("ordered", post("e1", "m1", email="a@example.com"), True)
    book.note("unordered", post("e1", "m1", email=None), True)
    book.end_erasure("m1")
    book.note("ordered", post("e1", "m1", email="a@example.com", at=time.time() - 1), True)
    assert damage(book) == []
    book.note("ordered", post("e1", "m1", email="a@example.com", at=time.time() + 2), True)
    assert any("erased" in problem for problem in book.problems)


def test_an_endpoint_that_was_changed_gets_nothing_at_its_old_address_for_long() -> None:
    """A request that was signed long after the change goes to the new address."""
    book = ledger()
    book.change_path("ordered", "/new")
    book.note("ordered", post("e1", "m1", at=time.time()), True)
    book.note("ordered", post("e1", "m1", at=time.time() + 60, path="/new"), True)
    # A change whose response is late may have taken effect.
    book.begin_change("ordered", "/newer")
    book.note("ordered", post("e1", "m1", at=time.time() + 60, path="/newer"), True)
    assert not book.problems
    book.note("ordered", post("e1", "m1", at=time.time() + 60), True)
    assert len(book.problems) == 1


def test_the_events_of_a_resource_keep_the_order_of_its_versions() -> None:
    """Also when the numbers rise: the log would then have them in the wrong order."""
    book = ledger()
    book.note("ordered", post("e1", "m1", sequence=1, version=2), True)
    book.note("ordered", post("e2", "m2", sequence=2, version=1), True)
    assert not book.problems
    book.note("ordered", post("e3", "m1", sequence=3, version=1), True)
    assert len(book.problems) == 1
