"""Members: created once, with an event, and anonymized on request."""

from shared.wire import new_id
from tests.services.bookings.samples import a_class, a_member, a_membership
from tests.services.bookings.studio_client import StudioClient

ADA = {"first_name": "Ada", "last_name": "Byron"}


async def test_a_member_is_created_once_per_normalized_email(client: StudioClient) -> None:
    """The second is refused with the first one's id, however the address is written."""
    body = ADA | {"email": " Ada@Bücher.example ", "phone": "+1 212 555 0100"}
    made = await client.call("POST", "/members", body)
    member = made.json
    assert (made.status, member["name"], member["role"]) == (201, "Ada Byron", "member")
    assert member["email"] == "ada@xn--bcher-kva.example"
    assert "phone" not in member and member["membership_type"] is None
    assert member == await client.get_ok(f"/members/{member['id']}")
    again = await client.call("POST", "/members", ADA | {"email": "ADA@xn--bcher-kva.example"})
    assert (again.status, again.code, again.details) == (409, "member_exists", {"member_id": member["id"]})
    (event,) = await client.events()
    assert (event["type"], event["location_id"], event["data"]["object"]) == ("member.created", None, member)
    other = StudioClient.for_new_studio(client.service)
    assert (await other.call("POST", "/members", body)).status == 201


async def test_an_erased_member_leaves_counts_and_no_trace_of_the_person(client: StudioClient) -> None:
    """Name, address and free texts go, from stored answers too; bookings and their replays stay."""
    class_, key = a_class(capacity=2), new_id()
    member = a_member(
        first_name="Yolanda", last_name="Byron", email="yolanda@example.com", phone="+12125550123"
    )
    card = a_membership(member["id"], pause={"paused_at": "2026-01-01T00:00:00Z", "resumes_at": None,
                                             "reason": "knee of yolanda"})  # fmt: skip
    await client.import_all(class_, member, card)
    gone = (await client.book(class_["id"], member["id"])).json
    await client.cancel(gone["id"], key=key, reason="yolanda has the flu")
    refused_key = new_id()
    await client.cancel(gone["id"], key=refused_key)
    kept = (await client.book(class_["id"], member["id"])).json
    erased = await client.erase(member_ids=[member["id"]], emails=[])
    assert erased.json == {"members": 1, "emails": ["yolanda@example.com"], "member_ids": [member["id"]]}
    shown = await client.get_ok(f"/members/{member['id']}")
    assert (shown["name"], shown["email"]) == ("Erased", None)
    assert (shown["first_name"], shown["last_name"]) == ("Erased", "")
    assert (await client.get_ok(f"/classes/{class_['id']}"))["booked_count"] == 1
    assert (await client.get_ok(f"/bookings/{kept['id']}"))["status"] == "confirmed"
    replay = await client.cancel(gone["id"], key=key, reason="yolanda has the flu")
    assert replay.replayed and replay.json["reason"] is None
    assert (await client.cancel(gone["id"], key=refused_key)).details["receipt"]["reason"] is None
    async with client.service.db.connection() as conn:
        for table in ("members", "memberships", "cancellations", "bookings", "idempotency_keys"):
            rows = await conn.fetch(f"SELECT * FROM {table}")  # noqa: S608
            assert b"yolanda" not in repr([tuple(row) for row in rows]).lower().encode(), table
    again = await client.erase(member_ids=[member["id"]], emails=[])
    assert again.json == {"members": 1, "emails": [], "member_ids": [member["id"]]}


async def test_the_stored_response_of_an_erased_member_is_anonymous(client: StudioClient) -> None:
    body, key = {"first_name": "Yolanda", "last_name": "B", "email": "yolanda@example.com"}, new_id()
    made = (await client.call("POST", "/members", body, key=key)).json
    await client.erase(member_ids=[made["id"]], emails=[])
    again = await client.call("POST", "/members", body, key=key)
    assert again.replayed and again.json == made | {
        "name": "Erased", "first_name": "Erased", "last_name": "", "email": None,
    }  # fmt: skip


async def test_a_lead_who_became_a_member_is_found_by_email_and_erased_by_id(client: StudioClient) -> None:
    """The event log must hear of the member first: until the id is named, nothing is erased."""
    ada, bob = a_member(email="ada@example.com"), a_member(email="bob@example.com", first_name="Bob")
    await client.import_all(ada, bob)
    person = {"lead_ids": [new_id()], "emails": [" ADA@example.com", "no email"]}
    found = await client.erase(**person)
    assert found.json == {"members": 0, "emails": [], "member_ids": [ada["id"]]}
    assert (await client.get_ok(f"/members/{ada['id']}"))["email"] == "ada@example.com"
    erased = await client.erase(member_ids=[ada["id"]], **person)
    assert erased.json == {"members": 1, "emails": ["ada@example.com"], "member_ids": [ada["id"]]}
    assert (await client.get_ok(f"/members/{ada['id']}"))["email"] is None
    assert (await client.get_ok(f"/members/{bob['id']}"))["email"] == "bob@example.com"
    assert (await client.erase(**person)).json["members"] == 0
