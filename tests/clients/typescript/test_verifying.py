"""`webhooks.verify` beside the library of Standard Webhooks."""

from typing import Any

from tests.clients.typescript.node_programs import TOOLS, Node
from tests.clients.webhook_cases import NEW, OLD, Case, bad_webhooks, good_webhooks, signed

REFUSED = "WebhookVerificationError"


def verified(node: Node, cases: dict[str, Case]) -> dict[str, Any]:
    given = {
        name: {"body": body, "headers": headers, "secrets": [NEW, OLD]}
        for name, (body, headers) in cases.items()
    }
    found: dict[str, Any] = node.result("webhooks.mjs", TOOLS.folder / "node_modules", given=given)
    return found


def test_verifying_agrees_with_the_library_of_standard_webhooks(node: Node) -> None:
    """Rotated secrets, tampered bodies, wrong timestamps: the verdict is the same, and the right one."""
    good, bad = good_webhooks(), bad_webhooks()
    found = verified(node, good | bad)
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
    bodies = {"text": "hello", "list": "[]", "bare": "{}"}
    cases = {name: (body, signed(NEW, body=body)) for name, body in bodies.items()}
    found = verified(node, cases | {"signed": good_webhooks()["signed"]})["verdicts"]
    assert {found[name]["ours"] for name in bodies} == {REFUSED}
