"""Today's clients and an API of a made-up later version: more fields, values, codes and kinds of events."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from aiohttp import web

from clients.generate.document import OPENAPI, read_document
from shared.servers.ports import free_port
from tests.clients.cases import differences
from tests.clients.conftest import Drive
from tests.clients.drivers import Json, Refused

DOCUMENT: Json = json.loads(OPENAPI.read_text())
NEWER = "not_thought_of_yet"
VERSION = "2031-01-01"


def resolved(schema: Json, value: Any) -> Json:
    """What describes this value: references are followed, and of several the first that it fits."""
    if ref := schema.get("$ref"):
        return resolved(DOCUMENT["components"]["schemas"][ref.rpartition("/")[2]], value)
    options = [resolved(one, value) for one in schema.get("anyOf", ()) if one.get("type") != "null"]
    for one in options:
        if not isinstance(value, dict) or set(value) >= set(one.get("required", ())):
            return one
    return schema


def later(value: Any, schema: Json, *, more: bool) -> Any:
    """The same in the later version: no enum has a value that is known today; with `more` fields if asked."""
    schema = resolved(schema, value)
    if isinstance(value, dict) and "properties" in schema:
        fields = {
            name: later(one, schema["properties"].get(name, {}), more=more) for name, one in value.items()
        }
        return fields | {"a_later_field": {"with": [NEWER]}} if more else fields
    if isinstance(value, list):
        return [later(one, schema.get("items", {}), more=more) for one in value]
    return NEWER if value is not None and "enum" in schema else value


def content(message: Json) -> Json:
    found: Json = message.get("content", {}).get("application/json", {})
    return found


def events(*, more: bool) -> list[Json]:
    """One of every kind, and one of a kind that nobody knows yet."""
    rows = []
    for number, one in enumerate(DOCUMENT["webhooks"].values(), start=1):
        told = content(one["post"]["requestBody"])
        rows.append(later(told["example"], told["schema"], more=more) | {"sequence": number})
    unheard = {"type": "mat.unrolled", "data": {"object": {"object": "mat", "color": "blue"}}}
    return [*rows, rows[0] | unheard | {"sequence": len(rows) + 1, "api_version": VERSION}]


def response(operation: Json, *, more: bool) -> Any:
    if operation["operationId"] == "list_events":
        rows = events(more=more)
        page = {"object": "list", "data": rows, "has_more": False, "next_cursor": None}
        return page | {"oldest_sequence": 1, "latest_sequence": len(rows)}
    good = next(one for status, one in operation["responses"].items() if status.startswith("2"))
    told = content(good)
    return later(told["example"], told["schema"], more=more) if told else None


def without_constants(value: Any) -> Any:
    """An event is known by its class: not every client shows its `object`."""
    if isinstance(value, list):
        return [without_constants(one) for one in value]
    if isinstance(value, dict):
        return {
            name: without_constants(one) for name, one in value.items() if (name, one) != ("object", "event")
        }
    return value


@asynccontextmanager
async def later_api() -> AsyncIterator[str]:
    """Its base URL. It serves every operation, and refuses with a code that is new."""

    def serving(operation: Json) -> Any:
        async def handler(request: web.Request) -> web.Response:
            if request.headers.get("Idempotency-Key") == "please-refuse":
                error = {"type": "a_later_type", "code": NEWER, "message": "No.", "param": None}
                body = {"error": error | {"details": {}, "request_id": "r", "a_later_field": 1}}
                return web.json_response(body, status=409)
            status = next(int(one) for one in operation["responses"] if one.startswith("2"))
            body = response(operation, more=True)
            return web.Response(status=status) if body is None else web.json_response(body, status=status)

        return handler

    app = web.Application()
    for path, methods in DOCUMENT["paths"].items():
        for method, operation in methods.items():
            app.router.add_route(method, f"/partner/v1{path}", serving(operation))
    runner = web.AppRunner(app)
    await runner.setup()
    port = free_port()
    await web.TCPSite(runner, "127.0.0.1", port).start()
    try:
        yield f"http://127.0.0.1:{port}/partner/v1"
    finally:
        await runner.cleanup()


async def test_what_is_newer_breaks_no_call(drive: Drive) -> None:
    """Every operation gives what is known; unknown values are the texts that were sent."""
    wrong = []
    examples = {one["operationId"]: one for methods in DOCUMENT["paths"].values() for one in methods.values()}
    async with later_api() as url, drive(url, "spk_test_a_b") as driver:
        for operation in read_document().operations:
            described = examples[operation.id]
            ids = ["632623f4-2cad-5876-afc5-79e7fc253218"] * len(operation.path_fields)
            fields = content(described.get("requestBody", {})).get("example") or {}
            needed = {
                field.name: ids[0] if ids else field.name for field in operation.query if field.required
            }
            result = await driver.call(operation.id, *ids, **fields, **needed)
            expected = without_constants(response(described, more=False))
            wrong += [f"{operation.id}: {one}" for one in differences(expected, result)]
    assert wrong == []


async def test_an_event_of_a_later_kind_arrives_whole(drive: Drive) -> None:
    """The others keep their kinds, and following passes over nothing."""
    async with later_api() as url, drive(url, "spk_test_a_b") as driver:
        count = len(DOCUMENT["webhooks"]) + 1
        followed = await driver.call("follow", after_sequence=0, count=count)
    assert [one["type"] for one in followed] == [*DOCUMENT["webhooks"], "mat.unrolled"]
    assert [one.get("unknown", False) for one in followed] == [False] * (count - 1) + [True]
    assert followed[-1]["data"]["object"]["color"] == "blue"


async def test_an_error_of_a_later_code_is_a_plain_one(drive: Drive) -> None:
    async with later_api() as url, drive(url, "spk_test_a_b") as driver:
        try:
            fields = {"email": "a@example.com", "idempotency_key": "please-refuse"}
            await driver.call("create_lead", **fields)
        except Refused as refused:
            assert (refused.error["class"], refused.error["code"]) == ("ApiError", NEWER)
        else:
            raise AssertionError("not refused")
