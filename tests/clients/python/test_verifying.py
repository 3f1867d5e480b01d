"""`webhooks.verify` of the Python client beside the library of Standard Webhooks."""

import base64
import hashlib
import hmac
import json
import pickle
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st
from standardwebhooks import Webhook
from standardwebhooks.webhooks import WebhookVerificationError as TheirError

from studio_partner import WebhookVerificationError, events, webhooks
from studio_partner.events import UnknownEvent
from studio_partner.models import EventKind
from tests.clients.webhook_cases import (
    BODY,
    EXAMPLES,
    NEW,
    OLD,
    Case,
    Headers,
    bad_webhooks,
    good_webhooks,
    signed,
)


def accepted(body: str, headers: Headers, *secrets: str) -> bool:
    try:
        webhooks.verify(body.encode(), headers, secrets)
    except WebhookVerificationError:
        return False
    return True


def theirs(body: str, headers: Headers, *secrets: str) -> bool:
    """Their library knows one secret at a time."""
    for secret in secrets:
        try:
            Webhook(secret).verify(body, headers)
        except (TheirError, ValueError, OverflowError):  # Some malformed headers are no refusal of theirs.
            continue
        return True
    return False


def test_what_is_signed_with_a_live_secret_is_accepted_and_everything_else_refused() -> None:
    """Both libraries give the same verdict, and the right one."""
    bad: dict[str, Case] = bad_webhooks() | {
        "bytes that are no text in the id": (BODY, signed(NEW, id="\udcff")),
        "bytes that are no text in the signature": (BODY, signed(NEW, signature="v1,\udcff")),
    }
    for cases, verdict in ((good_webhooks(), True), (bad, False)):
        found = {name: (accepted(*case, NEW, OLD), theirs(*case, NEW, OLD)) for name, case in cases.items()}
        assert found == dict.fromkeys(cases, (verdict, verdict))


@given(
    places=st.lists(st.integers(0, 2000), max_size=2),
    name=st.sampled_from(["webhook-id", "webhook-timestamp", "webhook-signature"]),
    text=st.text(st.characters(min_codepoint=32, max_codepoint=126), max_size=60),
    change=st.sampled_from(["body", "header", "append", "nothing"]),
)
def test_both_libraries_decide_alike_whatever_is_changed(
    places: list[int], name: str, text: str, change: str
) -> None:
    body, headers = BODY, signed(NEW)
    if change == "body":
        for place in places:
            body = body[: place % len(body)] + "x" + body[place % len(body) + 1 :]
    elif change == "header":
        headers[name] = text
    elif change == "append":
        headers["webhook-signature"] += f" {text}"
    assert accepted(body, headers, NEW) == theirs(body, headers, NEW)


def test_the_tolerance_can_be_chosen() -> None:
    webhooks.verify(BODY, signed(NEW, age=1000), NEW, tolerance=2000)
    with pytest.raises(WebhookVerificationError):
        webhooks.verify(BODY, signed(NEW, age=20), NEW, tolerance=10)


def signed_with(key: bytes, body: bytes) -> Headers:
    headers = signed(NEW)
    mac = hmac.digest(key, f"m-1.{headers['webhook-timestamp']}.".encode() + body, hashlib.sha256)
    return headers | {"webhook-signature": f"v1,{base64.b64encode(mac).decode()}"}


@pytest.mark.parametrize("secrets", ["not a secret", "", "whsec_", [NEW, ""], []])
def test_a_secret_that_is_none_is_a_mistake_of_the_program(secrets: str | list[str]) -> None:
    """An empty key signs as well as any other: whoever did not set it must not accept everything."""
    with pytest.raises(ValueError, match=r"whsec_|at least one secret"):
        webhooks.verify(BODY, signed_with(b"", BODY.encode()), secrets)


def test_the_body_may_be_bytes_of_any_kind_or_text() -> None:
    for body in (BODY, BODY.encode(), bytearray(BODY.encode())):
        assert webhooks.verify(body, signed(NEW), NEW).type == "booking.created"


@pytest.mark.parametrize(
    "body",
    ["hello", "[]", "{}", '{"type": "booking.created"}', '{"type": 7}', "\udcff", '{"type": "\udcff"}'],
)
def test_what_is_signed_but_is_no_event_is_refused(body: str) -> None:
    raw = body.encode(errors="surrogateescape")
    headers = signed_with(base64.b64decode(NEW.removeprefix("whsec_")), raw)
    with pytest.raises(WebhookVerificationError):
        webhooks.verify(raw, headers, NEW)


def test_every_kind_of_event_is_read_as_its_own_class() -> None:
    """The union covers what `GET /event-types` lists, with the documented examples, field by field."""
    assert set(get_args(EventKind)) == set(EXAMPLES)
    for kind, example in EXAMPLES.items():
        body = json.dumps(example)
        event = webhooks.verify(body, signed(NEW, body=body), NEW)
        assert not isinstance(event, UnknownEvent), kind
        assert (event.type, event.id, event.sequence) == (kind, example["id"], example["sequence"])
        shown = {name: getattr(event.data.object, name) for name in ("id", "object")}
        assert shown == {name: example["data"]["object"][name] for name in shown}
        assert event.data.previous == example["data"].get("previous", {})
        assert event.created_at.tzinfo is not None


def test_a_reference_in_the_place_of_a_resource_is_read_as_one() -> None:
    """What moved out of sight, or was erased, has no more than an id."""
    example = EXAMPLES["class.updated"]
    thin = example | {"data": {"object": {"id": "c", "object": "class"}}}
    for given_example, shape in ((example, "Class"), (thin, "ClassReference")):
        event = events.read_event(json.dumps(given_example).encode())
        assert isinstance(event, events.ClassUpdated)
        assert type(event.data.object).__name__ == shape


def test_events_can_be_handed_on_to_another_process() -> None:
    """Of known kinds and of others."""
    for kind in ("booking.created", "made_up.kind"):
        event = events.read_event(json.dumps(EXAMPLES["booking.created"] | {"type": kind}).encode())
        copy = pickle.loads(pickle.dumps(event))
        assert (type(copy), copy.type, copy.sequence) == (type(event), event.type, event.sequence)
        assert copy == event
