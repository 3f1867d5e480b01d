"""Changing leads over HTTP."""

from tests.services.forms.studio_client import StudioClient


async def test_absent_is_not_null(studio: StudioClient) -> None:
    """What is left out stays; null empties where null is allowed and is refused elsewhere."""
    made = await studio.post("/leads", {"email": "ann@example.com", "first_name": "Ann"})
    path = f"/leads/{made.json['id']}"
    await studio.patch(path, {"phone": "+442079460018", "notes": "n"})
    assert (await studio.patch(path, {"phone": None})).status == 200
    staff = (await studio.get(f"/staff{path}", actor="operator")).json
    assert (staff["phone"], staff["notes"], staff["first_name"]) == (None, "n", "Ann")
    for body in ({"first_name": None}, {"email": None}, {"status": None}, {"metadata": None}):
        assert (await studio.patch(path, body)).status == 422


async def test_metadata_is_a_merge_patch_and_keeps_its_digits(studio: StudioClient) -> None:
    """RFC 7386: null removes, objects merge; numbers come back as they were written."""
    made = await studio.post(
        "/leads",
        b'{"email":"a@b.example","metadata":{"keep":1.10,"big":123456789012345678901234567890,"o":{"x":1}}}',
    )
    path = f"/leads/{made.json['id']}"
    await studio.patch(path, {"metadata": {"o": {"y": True, "x": None}, "t": "é"}})
    reply = await studio.get(path)
    assert (
        b'"metadata":{"keep":1.10,"big":123456789012345678901234567890,"o":{"y":true},"t":"\xc3\xa9"}'
        in reply.body
    )
    await studio.patch(path, {"metadata": {"o": {"y": 1}}})
    assert (await studio.get(path)).json["metadata"]["o"] == {"y": 1}


async def test_a_change_that_changes_nothing_sends_no_event(studio: StudioClient) -> None:
    """The version grows with each change, and only with a change."""
    made = await studio.post("/leads", {"email": "ann@example.com", "metadata": {"a": {"b": 1}}})
    path = f"/leads/{made.json['id']}"
    for body in (
        {},
        {"status": "new"},
        {"metadata": {"a": {"b": 1}, "gone": None}},
        {"email": "ANN@example.com"},
    ):
        assert (await studio.patch(path, body)).status == 200
    assert (await studio.get(f"/staff{path}", actor="operator")).json["version"] == 1


async def test_states_go_forward(studio: StudioClient) -> None:
    """409 `invalid_state_transition` with from, to and allowed."""
    made = await studio.post("/leads", {"email": "ann@example.com"})
    path = f"/leads/{made.json['id']}"
    assert (await studio.patch(path, {"status": "converted"})).status == 200
    refused = await studio.patch(path, {"status": "new", "first_name": "Never"})
    assert (refused.status, refused.code) == (409, "invalid_state_transition")
    assert refused.json["error"]["details"] == {"from": "converted", "to": "new", "allowed": ["unqualified"]}
    assert (await studio.get(path)).json["first_name"] == ""
    assert (await studio.patch(path, {"status": "sold"})).problems == [(("body", "status"), "enum")]


async def test_an_email_of_another_lead_is_refused(studio: StudioClient) -> None:
    """409 `lead_exists` names the other lead; a new email is normalized."""
    ann = (await studio.post("/leads", {"email": "ann@example.com"})).json["id"]
    bob = (await studio.post("/leads", {"email": "bob@example.com"})).json["id"]
    refused = await studio.patch(f"/leads/{bob}", {"email": "Ann@Example.com"})
    assert (refused.status, refused.code) == (409, "lead_exists")
    assert refused.json["error"]["details"] == {"lead_id": ann}
    assert (await studio.patch(f"/leads/{bob}", {"email": "Rob@Example.com"})).status == 200
    assert (await studio.get(f"/leads/{bob}")).json["email"] == "rob@example.com"


async def test_an_update_is_refused_with_its_place_before_anything_is_looked_up(studio: StudioClient) -> None:
    """422 comes before 404."""
    path = f"/leads/{studio.id}"
    for body, loc in (
        ({"phone": "call me"}, ("body", "phone")),
        ({"notes": "x" * 5_001}, ("body", "notes")),
        ({"email": "x"}, ("body", "email")),
        ({"nickname": "x"}, ("body", "nickname")),
    ):
        assert (await studio.patch(path, body)).problems[0][0] == loc
    assert (await studio.patch(path, {"first_name": "x"})).status == 404
