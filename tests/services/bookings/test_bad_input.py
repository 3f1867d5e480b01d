"""Any bad input gets an error with a reason, never a 500."""

from itertools import product
from typing import Any

from shared.wire import new_id
from tests.services.bookings.samples import a_class, a_member, a_membership
from tests.services.bookings.studio_client import StudioClient

AN_ID = "3f6b1c5e-0d57-4d55-9a44-0f1f7f3f8a11"
ODD_IDS: list[Any] = [
    None, 1, True, [], {}, "", "x", AN_ID + "\n", AN_ID + " ", AN_ID.replace("-", ""), "\u0000",
    "{" + AN_ID + "}",
]  # fmt: skip
ODD_TIMES = [
    "0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59-14:00", "2026-02-30T00:00:00Z", "now", "", "infinity",
    "2026-01-01T00:00:00", "1e9", "-infinity", "2026-01-01",
]  # fmt: skip


async def test_odd_ids(client: StudioClient) -> None:
    """422 or, for a spot that may be null, an ordinary answer."""
    class_, (member,) = await client.open_class()
    for field, value in product(("class_id", "member_id", "class_spot_id"), ODD_IDS):
        body = {"class_id": class_["id"], "member_id": member["id"], field: value}
        replies = [
            await client.call("POST", "/bookings", body, key=new_id()),
            await client.call("POST", "/bookings/preview", body),
        ]
        expected = [201, 200] if value is None and field == "class_spot_id" else [422, 422]
        assert [reply.status for reply in replies] == expected, (field, value)


async def test_odd_times(client: StudioClient) -> None:
    """In a filter, in a new class, in a change and in an import."""
    class_, (member,) = await client.open_class()
    body = {key: class_[key] for key in ("title", "capacity", "start_time", "end_time")}
    path = f"/staff/classes/{class_['id']}"
    for value in ODD_TIMES:
        for name in ("starts_after", "starts_before"):
            assert (await client.get("/classes", **{name: value})).status in (200, 422), value
        for name in ("start_time", "end_time"):
            assert (await client.staff.call("POST", "/staff/classes", body | {name: value})).status == 422
            assert (await client.staff.call("PATCH", path, {name: value})).status == 422, value
        pause = {"paused_at": "2026-01-01T00:00:00Z", "resumes_at": value, "reason": None}
        lines = [
            a_class() | {"start_time": value},
            a_class() | {"end_time": value},
            a_member(created_at=value),
            a_member(membership_end_date=value),
            a_membership(member["id"], pause=pause),
        ]
        assert len((await client.import_lines(*lines))["rejected"]) == len(lines), value
    assert (await client.get("/members")).status == 200


async def test_odd_limits_of_a_cancellation(client: StudioClient) -> None:
    """Checked before anything is looked up. A trailing newline is no part of an amount."""
    for name, value, status in (
        ("reason", "x" * 500, 404),
        ("reason", "x" * 501, 422),
        *(
            ("max_late_fee", text, 422)
            for text in ("-1", "1e5", "NaN", "99999999999", "15\n", "15.00\n", "\n")
        ),
        ("max_late_fee", "0.00", 404),
        ("allow_credit_forfeit", "maybe", 422),
        ("allow_credit_forfeit", "false", 404),
    ):
        assert (await client.cancel(new_id(), **{name: value})).status == status, (name, value)


async def test_odd_capacities(client: StudioClient) -> None:
    """A number too large for its column is a 422."""
    class_, _ = await client.open_class(people=0)
    for capacity in (-1, 100_001, 2**31, 2**63, 2**70, 1.5, "3", None, True):
        reply = await client.change_class(class_, capacity=capacity)
        assert reply.status == 422, capacity
        assert len((await client.import_lines(a_class(capacity=capacity)))["rejected"]) == 1, capacity


async def test_a_trailing_newline_is_refused_in_a_studios_policy(client: StudioClient) -> None:
    """In amounts and currencies."""
    studio = {"object": "studio", "id": client.caller.studio_id, "name": "S"}
    for field, value in product(("late_fee_amount", "late_fee_currency"), ("15\n", "USD\n", "15.00\n", "\n")):
        assert len((await client.import_lines(studio | {field: value}))["rejected"]) == 1, (field, value)


async def test_a_key_has_8_to_120_printable_ascii_characters(client: StudioClient) -> None:
    """Other header bytes have no agreed encoding: such a key could not be looked up.

    A key to look up has the same lengths. Any other text is a valid key that nobody has used.
    """
    for key in ("order/2026/1", "x" * 120):
        assert (await client.cancel(new_id(), key=key)).status == 404, key
    for key in ("x" * 121, "x" * 7, "schlüssel-1", "key\twith-tab", "ключ-ключ", "key-\x7f-delete"):
        assert (await client.cancel(new_id(), key=key)).status == 422, key
    for key in ("eight by", "a'b\"c%;--", "y" * 120):
        assert (await client.key_state(key)).status == 404, key
    for key in ("x", "ü" * 9, "x" * 7, "x" * 121):
        assert (await client.key_state(key)).status == 422, key
