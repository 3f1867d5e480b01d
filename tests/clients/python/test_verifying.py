"""`webhooks.verify` of the Python client beside the library of Standard Webhooks."""

import base64
import hashlib
import hmac
import json
import pickle
import time
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st
from standardwebhooks import Webhook
from standardwebhooks.webhooks import WebhookVerificationError as TheirError

import services.webhooks
from studio_partner import WebhookVerificationError, events, webhooks
from studio_partner.events import BookingCreated, UnknownEvent
from studio_partner.models import EventKind
from tests.harness.process import ROOT

OLD, NEW, OTHER = (f"whsec_{letter * 43}=" for letter in "AEI")
TYPES = json.loads((ROOT / services.webhooks.__path__[0] / "event_types.json").read_text())["data"]
EXAMPLES: dict[str, dict[str, Any]] = {one["name"]: one["example"] for one in TYPES}
BODY = json.dumps(EXAMPLES["booking.created"], ensure_ascii=False) + " "
Headers = dict[str, str]


def signed(*secrets: str, body: str = BODY, age: float = 0) -> Headers:
    at = datetime.fromtimestamp(int(time.time()) - int(age), UTC)
    signatures = " ".join(Webhook(secret).sign("m-1", at, body) for secret in secrets)
    return {
        "webhook-id": "m-1",
        "webhook-timestamp": str(int(at.timestamp())),
        "webhook-signature": signatures,
    }


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


# Signed when they are used.
GOOD: dict[str, Callable[[], tuple[str, Headers]]] = {
    "signed": lambda: (BODY, signed(NEW)),
    "with the old secret": lambda: (BODY, signed(OLD)),
    "with several secrets": lambda: (BODY, signed(OTHER, NEW)),
    "almost too old": lambda: (BODY, signed(NEW, age=240)),
    "a fast clock": lambda: (BODY, signed(NEW, age=-240)),
    "names in capitals": lambda: (BODY, {name.title(): value for name, value in signed(NEW).items()}),
}
BAD: dict[str, Callable[[], tuple[str, Headers]]] = {
    "another secret": lambda: (BODY, signed(OTHER)),
    "too old": lambda: (BODY, signed(NEW, age=320)),
    "from the future": lambda: (BODY, signed(NEW, age=-320)),
    "a changed body": lambda: (BODY.replace("confirmed", "cancelled"), signed(NEW)),
    "written anew": lambda: (BODY.strip(), signed(NEW)),
    "another id": lambda: (BODY, signed(NEW) | {"webhook-id": "m-2"}),
    "another time": lambda: (BODY, signed(NEW) | {"webhook-timestamp": str(int(time.time()) - 5)}),
    "no number as time": lambda: (BODY, signed(NEW) | {"webhook-timestamp": "soon"}),
    "another version": lambda: (
        BODY,
        signed(NEW) | {"webhook-signature": signed(NEW)["webhook-signature"][1:]},
    ),
    "no signature": lambda: (BODY, signed(NEW) | {"webhook-signature": ""}),
    "not base64": lambda: (BODY, signed(NEW) | {"webhook-signature": "v1,%%%"}),
    "no headers": lambda: (BODY, {}),
    "a time beyond all numbers": lambda: (BODY, signed(NEW) | {"webhook-timestamp": "9" * 400}),
    "bytes that are no text in the id": lambda: (BODY, signed(NEW) | {"webhook-id": "\udcff"}),
    "bytes that are no text": lambda: (BODY, signed(NEW) | {"webhook-signature": "v1,\udcff"}),
}


@pytest.mark.parametrize("case", GOOD)
def test_what_is_signed_with_a_live_secret_is_accepted(case: str) -> None:
    body, headers = GOOD[case]()
    assert (accepted(body, headers, NEW, OLD), theirs(body, headers, NEW, OLD)) == (True, True)


@pytest.mark.parametrize("case", BAD)
def test_everything_else_is_refused(case: str) -> None:
    body, headers = BAD[case]()
    assert (accepted(body, headers, NEW, OLD), theirs(body, headers, NEW, OLD)) == (False, False)


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
    ours = accepted(body, headers, NEW)
    assert ours == theirs(body, headers, NEW)


def test_the_tolerance_can_be_chosen() -> None:
    headers = signed(NEW, age=1000)
    webhooks.verify(BODY, headers, NEW, tolerance=2000)
    with pytest.raises(WebhookVerificationError):
        webhooks.verify(BODY, signed(NEW, age=20), NEW, tolerance=10)


@pytest.mark.parametrize("secrets", ["not a secret", "", "whsec_", [NEW, ""], []])
def test_a_secret_that_is_none_is_a_mistake_of_the_program(secrets: str | list[str]) -> None:
    """An empty key signs as well as any other: whoever did not set it must not accept everything."""
    headers = signed(NEW)
    mac = hmac.digest(b"", f"m-1.{headers['webhook-timestamp']}.{BODY}".encode(), hashlib.sha256)
    headers["webhook-signature"] = f"v1,{base64.b64encode(mac).decode()}"
    with pytest.raises(ValueError, match=r"whsec_|at least one secret"):
        webhooks.verify(BODY, headers, secrets)


def test_the_body_may_be_bytes_of_any_kind_or_text() -> None:
    for body in (BODY, BODY.encode(), bytearray(BODY.encode())):
        assert webhooks.verify(body, signed(NEW), NEW).type == "booking.created"


@pytest.mark.parametrize(
    "body",
    ["hello", "[]", "{}", '{"type": "booking.created"}', '{"type": 7}', "\udcff", '{"type": "\udcff"}'],
)
def test_what_is_signed_but_is_no_event_is_refused(body: str) -> None:
    raw = body.encode(errors="surrogateescape")
    stamp = str(int(time.time()))
    key = base64.b64decode(NEW.removeprefix("whsec_"))
    mac = hmac.digest(key, f"m-1.{stamp}.".encode() + raw, hashlib.sha256)
    headers = {"webhook-id": "m-1", "webhook-timestamp": stamp}
    headers["webhook-signature"] = f"v1,{base64.b64encode(mac).decode()}"
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


def test_a_reference_in_the_place_of_a_resource_is_read_as_one() -> None:
    """What moved out of sight, or was erased, has no more than an id."""
    example = EXAMPLES["class.updated"]
    whole = events.read_event(json.dumps(example).encode())
    assert isinstance(whole, events.ClassUpdated)
    assert type(whole.data.object).__name__ == "Class"
    thin = example | {"data": {"object": {"id": "c", "object": "class"}}}
    event = events.read_event(json.dumps(thin).encode())
    assert isinstance(event, events.ClassUpdated)
    assert type(event.data.object).__name__ == "ClassReference"


def test_events_can_be_handed_on_to_another_process() -> None:
    """Of known kinds and of others."""
    for kind in ("booking.created", "made_up.kind"):
        event = events.read_event(json.dumps(EXAMPLES["booking.created"] | {"type": kind}).encode())
        copy = pickle.loads(pickle.dumps(event))
        assert (type(copy), copy.type, copy.sequence) == (type(event), event.type, event.sequence)
        assert copy == event


def test_an_event_is_typed() -> None:
    event = webhooks.verify(BODY, signed(NEW), NEW)
    assert isinstance(event, BookingCreated)
    assert event.data.object.status in ("confirmed", "waitlisted")
    assert event.created_at.tzinfo is not None
