"""The kinds of event: one table, and what is made of it."""

import jsonschema  # type: ignore[import-untyped]
import msgspec

from shared.events.anonymize import without_person
from shared.events.event import Audience, EventResource
from shared.events.kinds import KINDS, BookingRescheduled, ClassUpdated, FormUpdated
from shared.http.caller import Caller
from shared.routing import SCOPES
from shared.wire import new_id
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
        validator = jsonschema.Draft202012Validator(kind["schema"])
        validator.validate(kind["example"])
        assert kind["example"]["type"] == name
        assert not validator.is_valid(kind["example"] | {"type": "another.kind"})


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


HOOK = "http://127.0.0.1:9/"
OLD, NEW, THIRD = (new_id() for _ in range(3))
# By number in the log: two kinds of events about a move, of which each key sees one for each move.
MOVES = [
    (ClassUpdated, Audience.LEFT_LOCATION, OLD, NEW),
    (ClassUpdated, Audience.LEFT_LOCATION, OLD, THIRD),
    (ClassUpdated, Audience.LEFT_LOCATION, OLD, None),
    (BookingRescheduled, Audience.BOTH_LOCATIONS, NEW, OLD),
    (BookingRescheduled, Audience.CAME_TO_LOCATION, NEW, OLD),
    (BookingRescheduled, Audience.LEFT_LOCATION, OLD, NEW),
    (BookingRescheduled, Audience.BOTH_LOCATIONS, NEW, None),
    (BookingRescheduled, Audience.CAME_TO_LOCATION, NEW, None),
    (BookingRescheduled, Audience.BOTH_LOCATIONS, None, OLD),
    (BookingRescheduled, Audience.LEFT_LOCATION, OLD, None),
]


SEEN = {
    (): [4, 7, 9],
    (OLD,): [1, 2, 3, 6, 10],
    (NEW,): [5, 8],
    (THIRD,): [],
    (OLD, NEW): [2, 3, 4, 8, 10],
    (OLD, THIRD): [1, 3, 6, 10],
    (NEW, THIRD): [5, 8],
}


async def test_a_move_is_seen_once_by_every_key(client: StudioClient) -> None:
    """Whole to a key of both locations, without the origin to one of the new, thin to one of the old.

    In the pages of the log, with and without a filter, and at endpoints. A class does not tell its origin.
    """
    callers = [client.caller(location_ids=locations or None) for locations in SEEN]
    hooks = [(await client.endpoint(HOOK, caller=caller))["id"] for caller in callers]
    for kind, audience, at, other in MOVES:
        await client.publish(client.event(kind, location_id=at, audience=audience, moved_to=other))
    for caller, hook, seen in zip(callers, hooks, SEEN.values(), strict=True):
        page = (await client.call("GET", "/events", caller=caller)).json()["data"]
        assert [event["sequence"] for event in page] == seen
        for kind in (ClassUpdated, BookingRescheduled):
            filtered = (await client.call("GET", "/events", caller=caller, type=kind.name)).json()["data"]
            assert filtered == [event for event in page if event["type"] == kind.name]
        delivered = await client.deliveries(hook, caller=caller)
        assert [one["event_id"] for one in delivered] == [event["id"] for event in page]


async def test_the_log_and_the_deliveries_obey_the_audience(client: StudioClient) -> None:
    """A draft reaches writers, a form that was unpublished reaches readers thin; the kind is the same."""
    form = {"id": client.studio_id, "object": "form", "status": "draft"}
    reader, writer, both, nobody = (
        client.caller(scopes=frozenset({"webhooks:read", "webhooks:write", *scopes}))
        for scopes in (("forms:read",), ("forms:write",), ("forms:read", "forms:write"), ("leads:read",))
    )
    hook = await client.endpoint(HOOK, caller=reader, event_types=["form.updated"])
    for audience, data in (
        (None, form | {"title": "published"}),
        (Audience.FORM_WRITERS, form | {"title": "secret"}),
        (Audience.FORM_READERS, form),
    ):
        await client.publish(client.event(FormUpdated, audience=audience, data=data))

    async def titles(caller: Caller) -> list[str | None]:
        page = await client.call("GET", "/events", caller=caller)
        return [event["data"]["object"].get("title") for event in page.json()["data"]]

    assert await titles(reader) == ["published", None]
    assert await titles(writer) == await titles(both) == ["published", "secret"]
    assert await titles(nobody) == []
    delivered = await client.deliveries(hook["id"], caller=reader)
    assert [one["event_type"] for one in delivered] == ["form.updated", "form.updated"]
