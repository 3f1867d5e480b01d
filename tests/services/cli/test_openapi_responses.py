"""The running system answers what the document says: each answer is checked against its documented schema."""

import re
import secrets
from datetime import UTC, datetime
from typing import Any

from jsonschema import Draft202012Validator, FormatChecker  # type: ignore[import-untyped]

from services.cli.demo import STUDIO_ID, demo_lines
from services.cli.openapi.document import document
from tests.harness.http import Client, Reply
from tests.harness.system import System
from tests.services.cli.test_demo import TODAY, imported

DOCUMENT = document()
LINES = list(demo_lines(TODAY))
# What a row's id is called in paths, where that is not the name of the object.
CALLED = {
    "webhook_endpoint": "endpoint_id",
    "webhook_delivery": "delivery_id",
    "form_submission": "submission_id",
}


def conforms(method: str, path: str, reply: Reply, status: int) -> Any:
    """The answer's JSON, after checking it against the document."""
    assert reply.status == status, (method, path, reply.body)
    response = DOCUMENT["paths"][path][method]["responses"][str(status)]
    if "$ref" in response:
        response = DOCUMENT["components"]["responses"][response["$ref"].rsplit("/", 1)[1]]
    missing = {name for name in response["headers"] if name not in reply.headers}
    assert missing <= {"Idempotent-Replayed", "Retry-After"}, (method, path, missing)
    if "content" not in response:
        assert reply.body == b""
        return None
    schema = {**response["content"]["application/json"]["schema"], "components": DOCUMENT["components"]}
    problems = Draft202012Validator(schema, format_checker=FormatChecker()).iter_errors(reply.json())
    assert [problem.message for problem in problems] == [], (method, path)
    return reply.json()


async def test_every_read_answers_as_documented(system: System) -> None:
    """Each GET of the document is called, with ids taken from the lists before it."""
    partner = await imported(system)
    known = await written(partner)
    for path, methods in DOCUMENT["paths"].items():
        if "get" not in methods:
            continue
        wanted = set(re.findall(r"\{(\w+)\}", path))
        assert wanted <= known.keys(), f"nothing was listed that {path} could be read with"
        query = {"event_id": known["event_id"]} if path == "/webhook-deliveries" else {}
        query |= {"since": "2026-01-01T00:00:00Z"} if path.endswith("/missed-events") else {}
        shown = conforms("get", path, await partner.get(path.format_map(known), **query), 200)
        for row in shown["data"][:1] if shown["object"] == "list" else []:
            listed = {name: value for name, value in row.items() if name.endswith("_id") and value}
            if "id" in row:  # an event type has only a name
                listed[CALLED.get(row["object"], f"{row['object']}_id")] = row["id"]
            # What this test made stays: other tests may have made more of the same kind in this studio.
            known = listed | known


async def written(partner: Client) -> dict[str, str]:
    """A booking, a webhook endpoint and its recovery, so that there is more to read."""
    key = f"read-{secrets.token_hex(8)}"
    posted = await partner.post("/bookings", await bookable(partner), headers={"Idempotency-Key": key})
    conforms("post", "/bookings", posted, 201)
    body = {"url": "http://127.0.0.1:9/hooks", "event_types": []}
    endpoint = conforms("post", "/webhook-endpoints", await partner.post("/webhook-endpoints", body), 201)
    path = "/webhook-endpoints/{endpoint_id}/test"
    conforms("post", path, await partner.post(path.format(endpoint_id=endpoint["id"])), 202)
    path, since = "/webhook-endpoints/{endpoint_id}/recover", {"since": endpoint["created_at"]}
    recovery = conforms("post", path, await partner.post(path.format(endpoint_id=endpoint["id"]), since), 202)
    return {"key": key, "endpoint_id": endpoint["id"], "recovery_id": recovery["id"]}


async def bookable(partner: Client) -> dict[str, str]:
    """A member that the import made, and a class with seats to spare that has not begun."""
    member = str(next(line["id"] for line in LINES if line["object"] == "member"))
    taken = {
        line["class_id"] for line in LINES if line["object"] == "booking" and line["member_id"] == member
    }
    after = (await partner.get("/classes", starts_after=datetime.now(UTC), limit=200)).json()["data"]
    free = next(
        row["id"]
        for row in reversed(after)
        if row["available_count"] > 1 and row["spot_selection_mode"] is None and row["id"] not in taken
    )
    return {"class_id": free, "member_id": member}


async def test_errors_answer_as_documented(system: System) -> None:
    """One of each kind that a caller can bring about, body and headers."""
    partner = await imported(system)
    nobody = "00000000-0000-4000-8000-000000000000"
    booking = {"Idempotency-Key": secrets.token_hex(8)}
    reader = system.partner(await system.key(["studio:read"], studio=STUDIO_ID))
    conforms("get", "/rooms", await partner.get("/rooms", cursor=nobody), 400)
    conforms("get", "/rooms", await system.anyone.get("/rooms"), 401)
    conforms("get", "/rooms", await reader.get("/rooms"), 403)
    conforms("get", "/rooms/{room_id}", await partner.get(f"/rooms/{nobody}"), 404)
    conforms("get", "/rooms/{room_id}", await partner.get("/rooms/1"), 422)
    conforms("post", "/bookings", await partner.post("/bookings", {}, headers=booking), 422)
    text = {"Content-Type": "text/plain"}
    conforms("post", "/leads", await partner.post("/leads", raw=b"hello", headers=text), 415)
    conforms("post", "/leads", await partner.post("/leads", raw=b" " * 300_000), 413)
