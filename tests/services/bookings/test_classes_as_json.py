"""A page of classes is built from JSON stored in Postgres, and agrees with GET of each class."""

from datetime import UTC, datetime
from itertools import pairwise
from typing import Any

import asyncpg

from shared.wire import new_id
from tests.services.bookings.samples import a_class, soon
from tests.services.bookings.studio_client import StudioClient
from tests.services.bookings.test_lists import located

CHARACTERS = [chr(code) for code in range(1, 0x1_0000) if not 0xD800 <= code < 0xE000]
LONGEST = 5_000


async def agrees_with_each_class(client: StudioClient) -> list[Any]:
    """The list as it is sent: every object in it has the bytes that its own GET answers with."""
    pages = await client.get("/classes", limit=200)
    classes: list[Any] = pages.json["data"]
    each = [(await client.get(f"/classes/{class_['id']}")).body for class_ in classes]
    end = b'],"has_more":false,"next_cursor":null}'
    assert pages.body == b'{"object":"list","data":[' + b",".join(each) + end
    return classes


async def test_every_character_is_written_as_in_the_class_itself(client: StudioClient) -> None:
    """Any text: control characters, quotes, line separators, characters beyond the BMP."""
    text = "".join(CHARACTERS)
    parts = [text[start : start + LONGEST] for start in range(0, len(text), LONGEST)]
    parts += [
        "",
        "\\",
        '"',
        '\\"',
        "\\u0041",
        "%s {} $1 '",
        '"},{"id":"',
        "</script>",
        "🧘🏽‍♀️ \U0010ffff e\u0301",
        "\n" * LONGEST,
    ]
    await client.import_all(*(a_class(title=part[:200] or "-", description=part) for part in parts))
    classes = await agrees_with_each_class(client)
    assert sorted(class_["description"] for class_ in classes) == sorted(parts)


async def test_every_instant_is_written_in_utc_with_microseconds_only_where_there_are_any(
    client: StudioClient,
) -> None:
    """From 1970 to 2999, whatever offset it was given in."""
    starts = [
        datetime(1970, 1, 1, tzinfo=UTC),
        datetime(1999, 12, 31, 23, 59, 59, 999_999, tzinfo=UTC),
        datetime(2024, 2, 29, 12, 0, 0, 1, tzinfo=UTC),
        datetime(2026, 3, 29, 1, 30, 0, 100_000, tzinfo=UTC),
        datetime(2026, 10, 25, 0, 30, 5, 10, tzinfo=UTC),
        datetime(2999, 12, 31, 22, 59, 59, 999_999, tzinfo=UTC),
    ]
    offsets = ["+00:00", "-08:00", "+05:45", "+14:00"]
    lines = [a_class(start_time=start) for start in starts]
    lines += [a_class() | {"start_time": f"2026-06-01T09:00:00{offset}", "end_time": "2026-06-03T00:00:00.5Z"}
              for offset in offsets]  # fmt: skip
    await client.import_all(*lines)
    shown = {class_["id"]: class_["start_time"] for class_ in await agrees_with_each_class(client)}
    assert shown[lines[0]["id"]] == "1970-01-01T00:00:00Z"
    assert shown[lines[2]["id"]] == "2024-02-29T12:00:00.000001Z"
    assert shown[lines[-1]["id"]] == "2026-05-31T19:00:00Z"


async def test_nulls_and_every_choice_are_written_alike(client: StudioClient) -> None:
    """No optional id and all of them; every status, spot mode and boolean."""
    ids = {name: new_id() for name in ("class_type_id", "location_id", "room_id", "instructor_id")}
    await client.import_all(
        *located(ids["location_id"]),
        a_class(description=None, capacity=0),
        a_class(**ids, capacity=100_000),
        *(a_class(status=status) for status in ("scheduled", "completed", "cancelled")),
        *(a_class(spot_selection_mode=mode) for mode in (None, "none", "optional", "required")),
        *(a_class(allow_waitlist=truth, visible=not truth) for truth in (True, False)),
    )
    assert len(await agrees_with_each_class(client)) == 11
    assert len((await client.get_ok("/classes", location_id=ids["location_id"]))["data"]) == 1


async def test_whatever_changes_a_class_changes_its_json(client: StudioClient) -> None:
    """Created, changed and cancelled by staff; imported once and again."""
    class_ = a_class(title="First", capacity=2)
    seen = []

    async def look() -> None:
        (shown,) = await agrees_with_each_class(client)
        seen.append(shown)

    await client.import_all(class_)
    await look()
    for change in (
        {"title": 'Now "better"'},
        {"description": "né\n"},
        {"start_time": soon(days=2), "end_time": soon(days=4)},
        {"room_id": new_id(), "visible": False, "spot_selection_mode": "optional"},
    ):
        assert (await client.change_class(class_, **change)).status == 200
        await look()
    await client.import_all(class_ | {"title": "Second", "description": None})
    await look()
    assert (await client.cancel_class(class_)).status == 200
    await look()
    assert all(before != after for before, after in pairwise(seen))
    assert (seen[-1]["title"], seen[-1]["status"]) == ("Second", "cancelled")
    body = {"title": "Spin", "start_time": soon(days=1), "end_time": soon(days=1, hours=1), "capacity": 3}
    await client.staff.call("POST", "/staff/classes", body)
    assert len(await agrees_with_each_class(client)) == 2


SETTINGS = [
    {"timezone": "Asia/Kathmandu", "datestyle": "SQL, DMY", "intervalstyle": "sql_standard"},
    {"search_path": ""},
    {
        "standard_conforming_strings": "off",
        "backslash_quote": "on",
        "lc_time": "C",
        "quote_all_identifiers": "on",
    },
]


async def test_session_settings_do_not_affect_the_json(client: StudioClient, database_url: str) -> None:
    """The functions are declared IMMUTABLE; a restore computes the columns with an empty search_path."""
    class_ = a_class(description='a\\"b\u2028', start_time=soon(days=2).replace(microsecond=120))
    await client.import_all(class_)
    (before,) = await agrees_with_each_class(client)
    for number, settings in enumerate(SETTINGS, 1):
        conn = await asyncpg.connect(database_url, server_settings=settings)
        await conn.execute(
            "UPDATE bookings.classes SET title = title, status = status, description = description || '!'"
        )
        await conn.close()
        (after,) = await agrees_with_each_class(client)
        assert after == before | {"description": 'a\\"b\u2028' + "!" * number}, settings


async def test_a_booking_rewrites_neither_the_json_nor_an_index(database_url: str) -> None:
    """Postgres does neither unless an input of the column, or of an index or its condition, is set."""
    conn = await asyncpg.connect(database_url)
    triggers = await conn.fetchval(
        "SELECT count(*) FROM information_schema.triggers WHERE event_object_schema = 'bookings'"
        " AND event_object_table = 'classes' AND event_manipulation = 'UPDATE'"
    )
    build_rows = await conn.fetch(
        """SELECT DISTINCT a.attname FROM pg_attrdef d JOIN pg_depend p ON p.objid = d.oid
           JOIN pg_attribute a ON a.attrelid = p.refobjid AND a.attnum = p.refobjsubid
           WHERE d.adrelid = 'bookings.classes'::regclass AND p.refobjid = d.adrelid
             AND pg_get_expr(d.adbin, d.adrelid) LIKE '%json%'"""
    )
    indexes = await conn.fetch(
        "SELECT indexname FROM pg_indexes WHERE schemaname = 'bookings' AND tablename = 'classes'"
        " AND indexdef ~ 'booked_count|version'"
    )
    await conn.close()
    names = {row["attname"] for row in build_rows}
    assert (triggers, indexes) == (0, [])
    assert "title" in names and not names & {"booked_count", "waitlist_count", "version"}
