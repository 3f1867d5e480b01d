"""`webhooks.verify` beside the library of Standard Webhooks."""

from tests.clients.typescript.node_programs import TOOLS, Node
from tests.clients.webhook_cases import NEW, OLD, bad_webhooks, good_webhooks, signed

REFUSED = "WebhookVerificationError"


def test_verifying_agrees_with_the_library_of_standard_webhooks(node: Node) -> None:
    """Rotated secrets, tampered bodies, wrong timestamps: the verdict is the same, and the right one.

    What is signed but is no event is refused as well.
    """
    good, bad = good_webhooks(), bad_webhooks()
    no_events = {body: (body, signed(NEW, body=body)) for body in ("hello", "[]", "{}")}
    given = {
        name: {"body": body, "headers": headers, "secrets": [NEW, OLD]}
        for name, (body, headers) in (good | bad | no_events).items()
    }
    found = node.result("webhooks.mjs", TOOLS.folder / "node_modules", given=given)
    verdicts = {name: (one["ours"], one.get("theirs")) for name, one in found["verdicts"].items()}
    assert {name: verdicts[name] for name in good} == dict.fromkeys(good, ("booking.created",) * 2)
    assert {name: verdicts[name] for name in bad} == dict.fromkeys(bad, (REFUSED,) * 2)
    assert {found["verdicts"][body]["ours"] for body in no_events} == {REFUSED}
    assert set(found["forms"].values()) == {"booking.created"}, "body and headers come in every usual form"
    assert found["refused"] == {
        "parsed": REFUSED,
        "no tolerance": REFUSED,
        "no secret": "TypeError",
        "an empty secret": "TypeError",
    }
