"""A version of the API that is yet to come, made from the document of today: everything in it is additive.

Every object has a field more, every set of values another value, the events other kinds. Its server answers
each operation with the document's own example, grown in this way.
"""

import json
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from aiohttp import web

from clients.generate.document import OPENAPI
from tests.clients.drivers import Json
from tests.clients.python.scripted_server import serving

VALUE, FIELD, KIND, CODE = "made_up_value", "made_up_field", "made_up.happened", "made_up_refusal"


def document() -> Json:
    found: Json = json.loads(OPENAPI.read_text())
    return found


def grown(value: Any, schema: Json, schemas: Json) -> Any:
    """This example of a schema, as the later version shows it."""
    if ref := schema.get("$ref", "").rpartition("/")[2]:
        return grown(value, schemas[ref], schemas)
    if options := schema.get("anyOf"):
        fitting = [one for one in options if (one.get("type") == "null") == (value is None)]
        return grown(value, fitting[0], schemas)
    if "enum" in schema:
        return VALUE
    if isinstance(value, dict):
        fields = schema.get("properties", {})
        more = {FIELD: {"deep": [1, None]}} if fields else {}
        return {name: grown(one, fields.get(name, {}), schemas) for name, one in value.items()} | more
    if isinstance(value, list):
        return [grown(one, schema.get("items", {}), schemas) for one in value]
    return value


def answers() -> dict[tuple[str, str], tuple[int, Any]]:
    """By method and path: the status and the body of the later version."""
    today = document()
    found: dict[tuple[str, str], tuple[int, Any]] = {}
    schemas = today["components"]["schemas"]
    for path, methods in today["paths"].items():
        for method, operation in methods.items():
            status, good = next(pair for pair in operation["responses"].items() if pair[0].startswith("2"))
            content = next(iter(good.get("content", {}).values()), None)
            body = grown(content["example"], content["schema"], schemas) if content else None
            found[method.upper(), path] = (int(status), body)
    rows = events(today)
    page = {"object": "list", "data": rows, "has_more": False, "next_cursor": None}
    found["GET", "/events"] = (200, page | {"oldest_sequence": 1, "latest_sequence": len(rows)})
    return found


def events(today: Json) -> list[Json]:
    """One of every kind, one of a kind that is not known, and one whose content is not of the known shape."""
    schemas = today["components"]["schemas"]
    told = [one["post"]["requestBody"]["content"]["application/json"] for one in today["webhooks"].values()]
    rows = [grown(one["example"], one["schema"], schemas) for one in told]
    rows += [rows[0] | {"type": KIND, "data": {"subject": {"id": "x"}}}, rows[0] | {"data": {FIELD: 1}}]
    return [one | {"sequence": number} for number, one in enumerate(rows, start=1)]


@asynccontextmanager
async def later_version() -> AsyncIterator[str]:
    """The URL of its server. A path with `refuse` in it is refused with a code that is not known."""
    known = answers()
    patterns = {
        (method, re.compile("/partner/v1" + re.sub(r"\{\w+\}", "[^/]+", path))): answer
        for (method, path), answer in known.items()
    }

    async def handle(request: web.Request) -> web.Response:
        if "refuse" in request.path:
            error: Json = {"type": "made_up_type", "code": CODE, "message": "No.", "param": None, FIELD: {}}
            return web.json_response(
                {"error": error | {"details": {FIELD: 1}, "request_id": "r"}}, status=418
            )
        # Paths without an id first: /bookings/preview is no booking.
        for (method, pattern), (status, body) in sorted(
            patterns.items(), key=lambda row: "[" in row[0][1].pattern
        ):
            if method == request.method and pattern.fullmatch(request.path):
                return web.Response(status=status) if body is None else web.json_response(body, status=status)
        return web.Response(status=404)

    async with serving(handle) as url:
        yield url
