"""Any bad input gets an error with a reason, never a 500."""

from typing import Any

import pytest

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


@pytest.mark.parametrize("field", ["class_id", "member_id", "class_spot_id"])
@pytest.mark.parametrize("value", ODD_IDS, ids=repr)
async def test_odd_ids(client: StudioClient, field: str, value: Any) -> None:
    """422 or, for a spot that may be null, an ordinary answer."""
    class_, member = a_class(), a_member()
    await client.import_all(class_, member)
    body = {"class_id": class_["id"], "member_id": member["id"], field: value}
    for path, key in (("/bookings", new_id()), ("/bookings/preview", None)):
        reply = await client.call("POST", path, body, key=key)
        assert reply.status in ((200, 201) if value is None and field == "class_spot_id" else (422,)), (
            reply.body
        )


@pytest.mark.parametrize("value", ODD_TIMES)
async def test_odd_times(client: StudioClient, value: str) -> None:
    """In a filter, in a new class, in a change and in an import."""
    for name in ("starts_after", "starts_before"):
        assert (await client.get("/classes", **{name: value})).status in (200, 422)
    class_ = a_class()
    await client.import_all(class_)
    body = {key: class_[key] for key in ("title", "capacity", "start_time", "end_time")}
    for name in ("start_time", "end_time"):
        assert (await client.staff.call("POST", "/staff/classes", body | {name: value})).status == 422
        path = f"/staff/classes/{class_['id']}"
        assert (await client.staff.call("PATCH", path, {name: value})).status == 422
        assert len((await client.import_lines(a_class() | {name: value}))["rejected"]) == 1
    member = a_member()
    pause = {"paused_at": "2026-01-01T00:00:00Z", "resumes_at": value, "reason": None}
    report = await client.import_lines(
        a_member(created_at=value),
        a_member(membership_end_date=value),
        member,
        a_membership(member["id"], pause=pause),
    )
    assert len(report["rejected"]) == 3
    assert (await client.get("/members")).status == 200


@pytest.mark.parametrize(
    ("name", "value", "status"),
    [
        ("reason", "x" * 500, 404),
        ("reason", "x" * 501, 422),
        ("max_late_fee", "-1", 422),
        ("max_late_fee", "1e5", 422),
        ("max_late_fee", "NaN", 422),
        ("max_late_fee", "99999999999", 422),
        ("max_late_fee", "0.00", 404),
        ("allow_credit_forfeit", "maybe", 422),
        ("allow_credit_forfeit", "false", 404),
    ],
)
async def test_odd_limits_of_a_cancellation(client: StudioClient, name: str, value: str, status: int) -> None:
    """Checked before anything is looked up."""
    assert (await client.cancel(new_id(), **{name: value})).status == status


@pytest.mark.parametrize("capacity", [-1, 100_001, 2**31, 2**63, 2**70, 1.5, "3", None, True])
async def test_odd_capacities(client: StudioClient, capacity: Any) -> None:
    """A number too large for its column is a 422."""
    class_ = a_class()
    await client.import_all(class_)
    reply = await client.staff.call("PATCH", f"/staff/classes/{class_['id']}", {"capacity": capacity})
    assert reply.status == 422
    assert len((await client.import_lines(a_class(capacity=capacity)))["rejected"]) == 1


@pytest.mark.parametrize("value", ["15\n", "USD\n", "15.00\n", "\n"])
async def test_a_trailing_newline_is_refused(client: StudioClient, value: str) -> None:
    """In amounts and currencies, in bodies, queries and import lines."""
    member = a_member()
    studio = {"object": "studio", "id": client.caller.studio_id, "name": "S"}
    await client.import_all(member)
    assert (await client.cancel(new_id(), max_late_fee=value)).status == 422
    for field in ("late_fee_amount", "late_fee_currency"):
        assert len((await client.import_lines(studio | {field: value}))["rejected"]) == 1


@pytest.mark.parametrize(
    ("key", "status"), [("order/2026/1", 404), ("x" * 120, 404), ("x" * 121, 422), ("x" * 7, 422)]
)
async def test_sizes_of_keys(client: StudioClient, key: str, status: int) -> None:
    """8 to 120 characters, slashes included."""
    assert (await client.cancel(new_id(), key=key)).status == status


@pytest.mark.parametrize("key", ["schlüssel-1", "key\twith-tab", "ключ-ключ", "key-\x7f-delete"])
async def test_keys_beyond_printable_ascii(client: StudioClient, key: str) -> None:
    """Non-ASCII header bytes have no agreed encoding: such a key could not be looked up."""
    assert (await client.cancel(new_id(), key=key)).status == 422


async def test_odd_keys_to_look_up(client: StudioClient) -> None:
    """The same lengths as in the header. Any other text is a valid key that nobody has used."""
    for key in ("eight by", "a'b\"c%;--", "x" * 120):
        assert (await client.get(f"/idempotency-keys/{key}")).status == 404
    for key in ("x", "ü" * 9, "x" * 7, "x" * 121):
        assert (await client.get(f"/idempotency-keys/{key}")).status == 422
