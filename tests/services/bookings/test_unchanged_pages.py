"""A poll of a page of classes that has not changed is answered without building the page."""

import random
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from services.bookings import page_tags
from services.bookings.page_tags import PageTags
from services.bookings.store import classes
from shared.http.answer import entity_tag
from shared.wire import new_id
from tests.services.bookings.import_samples import a_class, a_member, soon
from tests.services.bookings.studio_client import Reply, StudioClient

DELETE_EXTRA = "DELETE FROM classes WHERE studio_id = $1 AND title = 'Extra'"


async def poll(client: StudioClient, tag: bytes, **query: Any) -> Reply:
    return await client.call("GET", "/classes", query=query, more_headers=[(b"if-none-match", tag)])


async def tag_of(client: StudioClient, **query: Any) -> bytes:
    """Of the page as it is now. Also polled once, so that the service knows the page's version."""
    tag = entity_tag((await client.get("/classes", **query)).body)
    await poll(client, tag, **query)
    return tag


async def not_built(client: StudioClient, monkeypatch: pytest.MonkeyPatch, tag: bytes, **query: Any) -> bool:
    """Whether the poll was answered from the page's version alone."""
    built = []
    build = classes.list_versioned

    async def counted(*args: Any) -> Any:
        built.append(True)
        return await build(*args)

    with monkeypatch.context() as patch:
        patch.setattr(classes, "list_versioned", counted)
        reply = await poll(client, tag, **query)
    assert (reply.status == 304) is not bool(built)
    return not built


async def test_the_second_poll_of_an_unchanged_page_does_not_build_it(
    client: StudioClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    """304 with the tag; and the page is built once the row, the filter or the tag is another."""
    class_ = a_class(capacity=3)
    await client.import_all(class_, *(a_class() for _ in range(4)))
    tag = await tag_of(client, limit=3)
    assert await not_built(client, monkeypatch, tag, limit=3)
    reply = await poll(client, tag, limit=3)
    assert (reply.status, reply.body, reply.headers[b"etag"]) == (304, b"", tag)
    assert not await not_built(client, monkeypatch, tag, limit=4), "another page"
    assert not await not_built(client, monkeypatch, b'"something else"', limit=3), "another tag"
    await client.import_all(class_ | {"title": "Renamed"})
    assert not await not_built(client, monkeypatch, tag, limit=3), "another row"


async def test_a_poll_is_told_of_every_change(client: StudioClient) -> None:
    """Random changes, back and forth: 304 only if the page has the bytes that the tag names.

    A page that was changed and changed back is built again; the service compares its tag afterwards.
    """
    random.seed(17)
    member, seats = a_member(), a_class(capacity=50)
    spare = [a_class(start_time=soon(days=2, hours=number)) for number in range(3)]
    await client.import_all(member, seats, *spare)

    async def rename() -> None:
        await client.import_all(spare[0] | {"title": random.choice(["A", "B"])})

    async def move() -> None:
        await client.import_all(
            a_class(id=spare[1]["id"], title="Moved", start_time=soon(days=random.choice([1, 9])))
        )

    async def book_or_cancel() -> None:
        if (await client.book(seats["id"], member["id"])).status != 201:
            [booking] = await client.list_all("/bookings", member_id=member["id"], status="confirmed")
            assert (await client.cancel(booking["id"])).status == 200

    async def insert_or_delete() -> None:
        async with client.service.db.connection() as conn:
            await conn.execute(DELETE_EXTRA, client.caller.studio_id)
        if random.random() < 0.5:
            await client.import_all(a_class(title="Extra"))

    async def nothing() -> None:
        pass

    changes: list[Callable[[], Awaitable[None]]] = [
        rename, move, book_or_cancel, insert_or_delete, nothing, nothing,
    ]  # fmt: skip
    queries: list[dict[str, Any]] = [{"limit": 2}, {"limit": 50}, {"starts_after": soon(hours=30)}]
    held = [await tag_of(client, **query) for query in queries]
    statuses = []
    for _ in range(60):
        await random.choice(changes)()
        for place, query in enumerate(queries):
            now = entity_tag((await client.get("/classes", **query)).body)
            reply = await poll(client, held[place], **query)
            assert held[place] == now if reply.status == 304 else entity_tag(reply.body) == now
            statuses.append(reply.status)
            held[place] = now
    assert {200, 304} <= set(statuses)


async def test_a_page_known_for_one_key_says_nothing_to_another(client: StudioClient) -> None:
    """A key that sees one location gets its own page, though it sends the tag of the whole."""
    await client.import_all(a_class(), a_class())
    tag = await tag_of(client)
    elsewhere = client.with_key(locations=(new_id(),))
    for _ in range(2):
        reply = await poll(elsewhere, tag)
        assert (reply.status, reply.json["data"]) == (200, [])


async def test_an_unknown_location_is_reported_to_a_poll_too(client: StudioClient) -> None:
    """Before and after the page is known."""
    for _ in range(2):
        assert (await poll(client, b"*", location_id=new_id())).status == 404


def test_the_least_recently_polled_pages_are_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    """Bounded in number, and in time."""
    monkeypatch.setattr(page_tags, "MAX_PAGES", 2)
    tags = PageTags()
    for key in (b"a", b"b", b"a", b"c"):
        if tags.find(key) is None:
            tags.remember(key, "version", b"tag")
    assert [tags.find(key) is not None for key in (b"a", b"b", b"c")] == [True, False, True]
    monkeypatch.setattr(page_tags, "TTL_SECONDS", -1.0)
    tags.remember(b"d", "version", b"tag")
    assert tags.find(b"d") is None
