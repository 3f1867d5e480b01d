"""Events: the `webhooks` section of the document, and the response of `GET /event-types`."""

from functools import cache
from typing import Any

import msgspec
from msgspec import Struct

from services.cli.openapi.examples import PATH_EXAMPLES, event_example, example_of
from services.cli.openapi.operations import operations
from services.cli.openapi.schemas import PARTNER_TEXTS, REF, Schemas, reachable, references
from services.webhooks.wire.events import EventRead
from shared.events.event import Kind
from shared.events.kinds import KINDS

Json = dict[str, Any]
_UUID: Json = {"type": "string", "format": "uuid"}
_ID_OR_NULL: Json = {"anyOf": [_UUID, {"type": "null"}]}
# Of a booking that was moved.
_ORIGIN: Json = {
    "class_id": _UUID | {"description": "The class that it left."},
    "class_spot_id": _ID_OR_NULL | {"description": "Its spot there, or null."},
    "start_time": {"type": "string", "format": "date-time", "description": "When that class starts, in UTC."},
    "location_id": _ID_OR_NULL | {"description": "The location of that class, or null."},
}


@cache
def resources() -> dict[str, type[Struct]]:
    """The struct of each resource, by its `object`: what the GET of one of them returns."""
    found: dict[str, type[Struct]] = {}
    for operation in operations():
        returned = operation.route.response
        if operation.route.method != "GET" or not (
            isinstance(returned, type) and issubclass(returned, Struct)
        ):
            continue
        for field in msgspec.structs.fields(returned):
            if field.name == "object" and field.default != "list":
                found.setdefault(str(field.default), returned)
    return found


def event_types() -> list[Any]:
    """The types that need a schema."""
    return [EventRead, *{kind.resource: resources()[kind.resource] for kind in KINDS.values()}.values()]


def webhooks(schemas: Schemas) -> Json:
    return {kind.name: {"post": _delivery(kind, schemas)} for kind in KINDS.values()}


def _delivery(kind: Kind, schemas: Schemas) -> Json:
    needs = f"Required scope: `{kind.scope}`." if kind.scope else "No scope is required."
    return {
        "operationId": "on_" + kind.name.replace(".", "_"),
        "summary": kind.description,
        "description": f"{needs} Answer 2xx within 15 seconds; otherwise the delivery is retried.",
        "tags": ["Webhooks"],
        "x-required-scope": kind.scope,
        "security": [],
        "parameters": [_header(*header) for header in HEADERS],
        "requestBody": {
            "required": True,
            "content": {
                "application/json": {"schema": event_schema(kind, schemas), "example": kind_example(kind)}
            },
        },
        "responses": {
            "2XX": {"description": "Accepted; it is not sent again."},
            "410": {"description": "The endpoint is disabled."},
            "default": {"description": "Failed; retried with increasing delays for about three days."},
        },
    }


HEADERS = (
    ("webhook-id", "The event's id. It is the same in every attempt; use it to detect duplicates.", _UUID),
    ("webhook-timestamp", "When this attempt was made, in Unix seconds.", {"type": "integer"}),
    (
        "webhook-signature",
        "`v1,` and the base64 HMAC-SHA-256 of `id.timestamp.body`, one per active secret, space-separated.",
        {"type": "string"},
    ),
    (
        "webhook-sequence",
        "Without gaps per endpoint: a missing number is a missing event.",
        {"type": "integer"},
    ),
)


def _header(name: str, description: str, schema: Json) -> Json:
    return {"name": name, "in": "header", "required": True, "description": description, "schema": schema}


def event_schema(kind: Kind, schemas: Schemas) -> Json:
    """The event as `GET /events` returns it, with the `type` and `data` of this kind."""
    event = schemas.resolved(EventRead)
    data: Json = {"object": _object_schema(kind, schemas)}
    if kind.previous is not None:
        data["previous"] = _previous_schema(kind)
    if kind.resource == "instructor":
        data["active"] = {"type": "boolean", "description": "Whether the list of instructors shows them."}
    own: Json = {
        "type": {"type": "string", "const": kind.name},
        "data": {"type": "object", "properties": data, "required": ["object"]},
    }
    return {"type": "object", "properties": {**event["properties"], **own}, "required": event["required"]}


def _previous_schema(kind: Kind) -> Json:
    if kind.tells_origin:
        about = "Where it was before. Left out if the key may not see that location."
        return {"type": "object", "description": about, "properties": _ORIGIN, "required": list(_ORIGIN)}
    changed = "The fields that have changed, with the values they had before."
    return {
        "type": "object",
        "description": f"{changed} Left out if the resource has come from another location.",
    }


def _object_schema(kind: Kind, schemas: Schemas) -> Json:
    whole = schemas.of(resources()[kind.resource])
    only_id = _thin_schema(
        kind, ("id", "object"), "The resource has moved to a location that the key may not see."
    )
    if kind.thin:
        return _thin_schema(kind, kind.thin, "Fetch the rest by its id.")
    if kind.location_bound and (kind.name.endswith(".updated") or kind.tells_origin):
        return {"anyOf": [whole, only_id]}
    if kind.resource == "form" and kind.name.endswith(".updated"):
        unpublished = "The form is no longer published, and the key has no `forms:write`."
        return {"anyOf": [whole, _thin_schema(kind, ("id", "object", "status"), unpublished)]}
    if kind.resource in ("member", "lead", "membership"):
        return {"anyOf": [whole, _thin_schema(kind, ("id", "object"), "The person has been erased since.")]}
    return whole


def _thin_schema(kind: Kind, fields: tuple[str, ...], description: str) -> Json:
    constant: Json = {"object": {"type": "string", "const": kind.resource}, "status": {"type": "string"}}
    return {
        "type": "object",
        "description": description,
        "properties": {name: constant.get(name, _UUID) for name in fields},
        "required": list(fields),
        "additionalProperties": False,
    }


def kind_example(kind: Kind) -> Json:
    known: Json = {
        "id": PATH_EXAMPLES["submission_id"],
        "object": "form_submission",
        "form_id": PATH_EXAMPLES["form_id"],
    }
    whole = known if kind.resource == "form_submission" else example_of(resources()[kind.resource])
    resource = {name: whole[name] for name in kind.thin} if kind.thin else {**whole, **kind.example}
    example = event_example(kind.name, resource, located=kind.location_bound)
    if kind.previous is not None:
        example["data"]["previous"] = kind.previous
    if kind.resource == "instructor":
        example["data"]["active"] = True
    return example


DEFS = "#/$defs/"


def event_types_bytes() -> bytes:
    """Deterministic, like the OpenAPI document."""
    named = [kind for operation in operations() for kind in operation.types]
    schemas = Schemas([*named, *event_types()])
    components = schemas.components(PARTNER_TEXTS)
    data = [
        {
            "object": "event_type",
            "name": kind.name,
            "description": kind.description,
            "scope": kind.scope,
            "schema": self_contained(event_schema(kind, schemas), components),
            "example": kind_example(kind),
        }
        for kind in KINDS.values()
    ]
    return msgspec.json.encode({"object": "list", "data": data}) + b"\n"


def self_contained(schema: Json, components: Json) -> Json:
    """A schema without references to other documents: everything it refers to is in its own `$defs`."""
    named = reachable(components, references(schema))
    whole = {**schema, "$defs": {name: components[name] for name in sorted(named)}} if named else schema
    local: Json = msgspec.json.decode(msgspec.json.encode(whole).replace(REF.encode(), DEFS.encode()))
    return local
