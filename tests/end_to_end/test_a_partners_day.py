"""The flows of the specification's first page, as a partner's server would call them."""

import json
from datetime import UTC, date, datetime, timedelta
from typing import Any

from services.cli.demo import STUDIO_ID, demo_lines
from shared.wire import new_id
from tests.harness.http import Client
from tests.harness.system import System


async def demo_client(system: System, *scopes: str) -> Any:
    await system.import_lines(list(demo_lines(date(2030, 1, 7))), STUDIO_ID)
    return system.partner(await system.key(scopes or ("all",), studio=STUDIO_ID))


async def free_class(client: Any, member_id: str) -> Any:
    """The first class of the demo in which a member without credits gets a seat, by the preview."""
    page = (await client.get("/classes", starts_after="2030-01-07T00:00:00-05:00", limit=200)).json()
    for class_ in page["data"]:
        body = {"class_id": class_["id"], "member_id": member_id}
        if (await client.post("/bookings/preview", body)).json()["outcome"] == "confirmed":
            return class_
    raise AssertionError("no class of the demo can be booked without credits")


async def test_booking_flow(system: System) -> None:
    """Read classes, identify the member, book, and see the seat taken; a retry changes nothing."""
    client = await demo_client(system)
    email = f"{new_id()}@example.com"
    member = await client.create("/members", {"email": email, "first_name": "Ada", "last_name": "King"})
    wanted = await free_class(client, member["id"])
    key = new_id()
    first, again = [await client.book(wanted["id"], member["id"], key=key) for _ in range(2)]
    assert (first.status, again.status) == (201, 201)
    assert again.body == first.body
    assert again.headers["Idempotent-Replayed"] == "true"
    after = (await client.get(f"/classes/{wanted['id']}")).json()
    assert after["booked_count"] == wanted["booked_count"] + 1
    receipt = (await client.cancel(first.json()["id"])).json()
    assert (receipt["object"], receipt["status"]) == ("booking_cancellation", "cancelled")


async def test_lead_flow(partner: Client) -> None:
    """Create the lead, then submit a form with the same email: the lead shows the form's context."""
    email = f"{new_id()}@Example.com"
    created = (await partner.post("/leads", {"email": email, "first_name": "Grace"})).json()
    assert created["created"] is True
    again = (await partner.post("/leads", {"email": email.upper()})).json()
    assert (again["id"], again["created"]) == (created["id"], False)
    field = {"key": "goal", "label": "Goal", "type": "text", "required": True}
    form = (await partner.post("/forms", {"title": "Goals", "status": "published", "fields": [field]})).json()
    body = {"submitter_email": email, "data": {"goal": "Stand on one leg"}}
    submission = await partner.post(f"/forms/{form['id']}/submissions", body)
    assert submission.status == 201, submission.body
    lead = (await partner.get(f"/leads/{created['id']}")).json()
    context = lead["metadata"]["form_submissions"]
    assert [one["submission_id"] for one in context] == [submission.json()["id"]]


async def test_a_new_member_converts_the_lead_of_the_same_email(partner: Client) -> None:
    """An event, not a call, makes the lead `converted`, with the stage `member`."""
    email = f"{new_id()}@example.com"
    lead_id = (await partner.post("/leads", {"email": email})).json()["id"]
    member = {"email": email, "first_name": "Ada", "last_name": "King"}
    assert (await partner.post("/members", member)).status == 201
    deadline = datetime.now(UTC) + timedelta(seconds=20)
    while (lead := (await partner.get(f"/leads/{lead_id}")).json())["status"] != "converted":
        assert datetime.now(UTC) < deadline, lead
    assert lead["lifecycle_stage"] == "member"


async def test_a_request_id_reaches_every_service(system: System, partner: Client) -> None:
    """The gateway and the owning service log the same id as the partner's call."""
    request_id = f"trace-{new_id()}"
    await partner.get("/classes", headers={"X-Request-Id": request_id})
    deadline = datetime.now(UTC) + timedelta(seconds=10)
    told: list[str] = []
    while len(told) < 2:
        assert datetime.now(UTC) < deadline, told
        logs = [line for log in system.running.logs.glob("*.log") for line in log.read_text().splitlines()]
        told = [line for line in logs if request_id in line]
    assert {json.loads(line)["service"] for line in told} in ({"studio", "bookings"}, {"gateway", "bookings"})
