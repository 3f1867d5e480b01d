"""Webhooks that a receiver takes, and others that it refuses, signed by the library of Standard Webhooks."""

import json
import time
from datetime import UTC, datetime
from typing import Any

from standardwebhooks import Webhook

import services.webhooks
from tests.harness.process import ROOT

# During a rotation a receiver knows the first two.
OLD, NEW, OTHER = (f"whsec_{letter * 43}=" for letter in "AEI")
TYPES = json.loads((ROOT / services.webhooks.__path__[0] / "event_types.json").read_text())["data"]
EXAMPLES: dict[str, dict[str, Any]] = {one["name"]: one["example"] for one in TYPES}
BODY = json.dumps(EXAMPLES["booking.created"], ensure_ascii=False) + " "
Headers = dict[str, str]
Case = tuple[str, Headers]


def signed(*secrets: str, body: str = BODY, age: int = 0, **changed: str) -> Headers:
    """The headers, signed so many seconds ago. `changed` has other values for some, without `webhook-`."""
    at = int(time.time()) - age
    moment = datetime.fromtimestamp(at, UTC)
    signatures = " ".join(Webhook(secret).sign("m-1", moment, body) for secret in secrets)
    given = {"id": "m-1", "timestamp": str(at), "signature": signatures} | changed
    return {f"webhook-{name}": value for name, value in given.items()}


def good_webhooks() -> dict[str, Case]:
    return {
        "signed": (BODY, signed(NEW)),
        "with the old secret": (BODY, signed(OLD)),
        "with several secrets": (BODY, signed(OTHER, NEW)),
        "almost too old": (BODY, signed(NEW, age=285)),
        "a fast clock": (BODY, signed(NEW, age=-285)),
        "names in capitals": (BODY, {name.title(): value for name, value in signed(NEW).items()}),
    }


def bad_webhooks() -> dict[str, Case]:
    signature = signed(NEW)["webhook-signature"]
    return {
        "another secret": (BODY, signed(OTHER)),
        "too old": (BODY, signed(NEW, age=310)),
        "from the future": (BODY, signed(NEW, age=-320)),
        "a changed body": (BODY.replace("confirmed", "cancelled"), signed(NEW)),
        "written anew": (BODY.strip(), signed(NEW)),
        "another id": (BODY, signed(NEW, id="m-2")),
        "another time": (BODY, signed(NEW, timestamp=str(int(time.time()) - 5))),
        "no number as time": (BODY, signed(NEW, timestamp="soon")),
        "a time beyond all numbers": (BODY, signed(NEW, timestamp="9" * 400)),
        "without the version": (BODY, signed(NEW, signature=signature[1:])),
        "a version that is not ours": (BODY, signed(NEW, signature=f"v2{signature[2:]}")),
        "not base64": (BODY, signed(NEW, signature="v1,%%%")),
        "an empty signature": (BODY, signed(NEW, signature="v1,")),
        "no signature": (BODY, signed(NEW, signature="")),
        "no id": (BODY, signed(NEW, id="")),
        "no time": (BODY, signed(NEW, timestamp="")),
        "no headers": (BODY, {}),
    }
