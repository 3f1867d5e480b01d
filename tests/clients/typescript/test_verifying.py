"""`webhooks.verify` beside the library of Standard Webhooks."""

import json
import time
from datetime import UTC, datetime
from typing import Any

from standardwebhooks import Webhook

from shared.wire import new_id
from tests.clients.typescript.node_programs import TOOLS, Node

OLD, NEW, OTHER = (f"whsec_{letter * 43}=" for letter in "AEI")
BODY = json.dumps(
    {"id": new_id(), "object": "event", "type": "booking.created", "data": {"object": {"n": "ü"}}}
)
REFUSED = "WebhookVerificationError"


def signed(*secrets: str, body: str = BODY, age: int = 0, **changed: str) -> dict[str, Any]:
    """What a receiver that knows NEW and OLD gets, signed with these secrets this many seconds ago."""
    at, name = int(time.time()) - age, new_id()
    signature = " ".join(
        Webhook(secret).sign(name, datetime.fromtimestamp(at, UTC), body) for secret in secrets
    )
    headers = {"webhook-id": name, "webhook-timestamp": str(at), "webhook-signature": signature}
    headers |= {field.replace("_", "-"): value for field, value in changed.items()}
    return {"body": body, "headers": {k: v for k, v in headers.items() if v}, "secrets": [NEW, OLD]}


def test_verifying_agrees_with_the_library_of_standard_webhooks(node: Node) -> None:
    """Rotated secrets, tampered bodies, wrong timestamps: the verdict is the same, and the right one."""
    good = {
        "signed": signed(NEW),
        "with the old secret": signed(OLD),
        "with both secrets": signed(OTHER, NEW),
        "almost too old": signed(NEW, age=295),
        "a fast clock": signed(NEW, age=-295),
    }
    bad = {
        "with another secret": signed(OTHER),
        "too old": signed(NEW, age=310),
        "in the future": signed(NEW, age=-310),
        "a changed body": signed(NEW) | {"body": BODY.replace("created", "updated")},
        "another id": signed(NEW, webhook_id=new_id()),
        "another time": signed(NEW, webhook_timestamp=str(int(time.time()) - 5)),
        "no number as time": signed(NEW, webhook_timestamp="soon"),
        "no signature": signed(NEW, webhook_signature=""),
        "no id": signed(NEW, webhook_id=""),
        "no time": signed(NEW, webhook_timestamp=""),
        "not base64": signed(NEW, webhook_signature="v1,%%%"),
        "an empty signature": signed(NEW, webhook_signature="v1,"),
        "a version that is not ours": signed(NEW, webhook_signature="v2," + "A" * 43 + "="),
    }
    found = node.result("webhooks.mjs", TOOLS.folder / "node_modules", given=good | bad)
    verdicts = {name: (one["ours"], one["theirs"]) for name, one in found["verdicts"].items()}
    assert {name: verdicts[name] for name in good} == dict.fromkeys(good, ("booking.created",) * 2)
    assert {name: verdicts[name] for name in bad} == dict.fromkeys(bad, (REFUSED,) * 2)
    assert set(found["forms"].values()) == {"booking.created"}, "body and headers come in every usual form"
    assert found["refused"] == {
        "parsed": REFUSED,
        "no tolerance": REFUSED,
        "no secret": "TypeError",
        "an empty secret": "TypeError",
    }


def test_what_is_signed_but_is_no_event_is_refused(node: Node) -> None:
    cases = {
        name: signed(NEW, body=body) for name, body in {"text": "hello", "list": "[]", "bare": "{}"}.items()
    }
    cases["signed"] = signed(NEW)
    found = node.result("webhooks.mjs", TOOLS.folder / "node_modules", given=cases)["verdicts"]
    assert {found[name]["ours"] for name in ("text", "list", "bare")} == {REFUSED}
