"""The kinds of event: one table, and what is made of it."""

import jsonschema  # type: ignore[import-untyped]
import msgspec

from services.webhooks.rules.visibility import View
from shared.events.anonymize import without_person
from shared.events.event import Audience, EventResource
from shared.events.kinds import KINDS, BookingRescheduled, ClassUpdated, FormUpdated
from shared.routing import SCOPES
from tests.services.webhooks.studio_client import StudioClient

PERSONAL = ("member", "lead", "membership")


async def test_every_kind_is_listed_with_a_schema_that_its_example_obeys(client: StudioClient) -> None:
    """`GET /event-types` is the table of kinds; each schema is self-contained."""
    reply = await client.call("GET", "/event-types")
    listed = {kind["name"]: kind for kind in reply.json()["data"]}
    assert list(listed) == list(KINDS)
    for name, kind in listed.items():
        assert kind["object"] == "event_type" and kind["description"]
        assert kind["scope"] == KINDS[name].scope
        jsonschema.validate(kind["example"], kind["schema"])
        assert kind["example"]["type"] == name
        wrong = kind["example"] | {"type": "another.kind"}
        assert not jsonschema.Draft202012Validator(kind["schema"]).is_valid(wrong)


async def test_an_event_about_an_erased_person_obeys_its_schema(client: StudioClient) -> None:
    """An erasure leaves the ids of what the log has, and the schemas say so."""
    reply = await client.call("GET", "/event-types")
    kinds = [kind for kind in reply.json()["data"] if KINDS[kind["name"]].resource in PERSONAL]
    assert len(kinds) == 8
    for kind in kinds:
        resource = KINDS[kind["name"]].resource
        left = without_person(EventResource(resource, kind["example"]["resource"]["id"], 1))
        jsonschema.validate(kind["example"] | {"data": msgspec.json.decode(left)}, kind["schema"])


def test_every_kind_names_a_known_scope() -> None:
    """A misspelt scope would hide the kind from everybody. Only the test event needs none."""
    assert all(scope in SCOPES for kind in KINDS.values() for scope in kind.scopes)
    assert [name for name, kind in KINDS.items() if not kind.scopes] == ["webhook.test"]


async def test_a_page_contains_the_newest_sequence_whatever_the_key_may_see(client: StudioClient) -> None:
    """A client that continues from it misses nothing. An empty page contains it too."""
    assert (await client.call("GET", "/events")).json()["latest_sequence"] == 0
    await client.publish_some(3)
    page = (await client.call("GET", "/events", limit=2)).json()
    assert [event["sequence"] for event in page["data"]] == [1, 2]
    assert page["latest_sequence"] == 3
    blind = client.caller(scopes=frozenset({"webhooks:read"}))
    assert (await client.call("GET", "/events", caller=blind)).json()["latest_sequence"] == 3


A, B, C = "a", "b", "c"


def test_a_move_sends_a_thin_event_only_to_keys_that_no_longer_see_the_resource() -> None:
    """A key that sees the new location gets the whole resource, and no thin event in addition."""
    channel = f"{ClassUpdated.name}+{Audience.LEFT_LOCATION}"
    scopes = frozenset({"schedule:read"})
    for locations, seen in ((None, False), ({A}, True), ({B}, False), ({A, B}, False), ({A, C}, True)):
        view = View(scopes, None if locations is None else frozenset(locations))
        assert view.shows(channel, A, B) is seen, locations
    assert View(scopes, frozenset({A})).shows(channel, A, None)
    assert not View(frozenset({"members:read"}), frozenset({A})).shows(channel, A, B)


def test_a_move_that_tells_its_origin_is_shown_once_to_every_key() -> None:
    """Whole to a key of both locations, without the origin to one of the new, thin to one of the old."""
    both, came, left = (
        f"{BookingRescheduled.name}+{audience}"
        for audience in (Audience.BOTH_LOCATIONS, Audience.CAME_TO_LOCATION, Audience.LEFT_LOCATION)
    )
    scopes = frozenset({"bookings:read"})
    for old, new in ((A, B), (None, B), (A, None)):
        for locations in (None, {A}, {B}, {C}, {A, B}, {A, C}):
            view = View(scopes, None if locations is None else frozenset(locations))
            shown = {
                "both": view.shows(both, new, old),
                "came": new is not None and view.shows(came, new, old),
                "left": old is not None and view.shows(left, old, new),
            }
            sees_old, sees_new = (locations is None or place in locations for place in (old, new))
            expected = {
                "both": sees_old and sees_new,
                "came": sees_new and not sees_old,
                "left": sees_old and not sees_new,
            }
            assert shown == expected, (old, new, locations)
    assert not View(scopes, None).shows(f"{ClassUpdated.name}+{Audience.BOTH_LOCATIONS}", A, B)


async def test_a_page_shows_one_event_of_a_move_that_tells_its_origin(client: StudioClient) -> None:
    """The same rule in the log's own queries, by type and by sequence."""
    old, new, third = (client.event().id for _ in range(3))
    for audience, at, other in (
        (Audience.BOTH_LOCATIONS, new, old),
        (Audience.CAME_TO_LOCATION, new, old),
        (Audience.LEFT_LOCATION, old, new),
        (Audience.BOTH_LOCATIONS, new, None),
        (Audience.CAME_TO_LOCATION, new, None),
    ):
        event = client.event(BookingRescheduled, location_id=at, audience=audience, moved_to=other)
        await client.publish(event)

    async def seen(*locations: str) -> list[int]:
        caller = client.caller(location_ids=locations or None)
        pages = [
            (await client.call("GET", "/events", caller=caller, **query)).json()["data"]
            for query in ({}, {"type": BookingRescheduled.name})
        ]
        assert pages[0] == pages[1]
        return [event["sequence"] for event in pages[0]]

    assert await seen() == [1, 4]
    assert await seen(old, new) == [1, 5]
    assert await seen(new) == await seen(new, third) == [2, 5]
    assert await seen(old) == await seen(old, third) == [3]
    assert await seen(third) == []


def test_the_events_of_an_unpublished_form_depend_on_the_scope() -> None:
    """Writers get everything; readers what is published, and that it no longer is."""
    reader = View(frozenset({"forms:read"}), None)
    writer = View(frozenset({"forms:write"}), None)
    both = View(frozenset({"forms:read", "forms:write"}), None)
    writers, readers = (f"{FormUpdated.name}+{one}" for one in (Audience.FORM_WRITERS, Audience.FORM_READERS))
    assert [view.shows(FormUpdated.name, None, None) for view in (reader, writer, both)] == [True] * 3
    assert [view.shows(writers, None, None) for view in (reader, writer, both)] == [False, True, True]
    assert [view.shows(readers, None, None) for view in (reader, writer, both)] == [True, False, False]
    assert not View(frozenset({"leads:read"}), None).shows(FormUpdated.name, None, None)


async def test_the_log_and_the_deliveries_obey_the_audience(client: StudioClient) -> None:
    """A draft reaches writers, a form that was unpublished reaches readers thin; the kind is the same."""
    form = {"id": client.studio_id, "object": "form", "status": "draft"}
    scopes = client.caller().scopes
    reader = client.caller(scopes=scopes | {"forms:read"})
    writer = client.caller(scopes=scopes | {"forms:read", "forms:write"})
    hook = await client.endpoint("http://127.0.0.1:9/", caller=reader, event_types=["form.updated"])
    for audience, data in (
        (None, form | {"title": "published"}),
        (Audience.FORM_WRITERS, form | {"title": "secret"}),
        (Audience.FORM_READERS, form),
    ):
        await client.publish(client.event(FormUpdated, audience=audience, data=data))

    async def titles(caller: object) -> list[str | None]:
        page = await client.call("GET", "/events", caller=caller, type="form.updated")  # type: ignore[arg-type]
        return [event["data"]["object"].get("title") for event in page.json()["data"]]

    assert await titles(reader) == ["published", None]
    assert await titles(writer) == ["published", "secret"]
    delivered = await client.deliveries(hook["id"], caller=reader)
    assert [one["event_type"] for one in delivered] == ["form.updated", "form.updated"]


async def test_a_page_leaves_out_moves_between_two_permitted_locations(client: StudioClient) -> None:
    """The same rule in the log's own query."""
    old, new, third = (client.event().id for _ in range(3))
    for moved_to in (new, third, None):
        await client.publish(
            client.event(ClassUpdated, location_id=old, audience=Audience.LEFT_LOCATION, moved_to=moved_to)
        )

    async def seen(*locations: str) -> list[int]:
        caller = client.caller(location_ids=locations or None)
        page = await client.call("GET", "/events", caller=caller)
        return [event["sequence"] for event in page.json()["data"]]

    assert await seen(old) == [1, 2, 3]
    assert await seen(old, new) == [2, 3]
    assert await seen(new) == []
    assert await seen() == []
