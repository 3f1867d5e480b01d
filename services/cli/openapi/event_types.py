"""The answer of `GET /event-types`: each kind with its schema and an example, from the table of kinds.

The webhooks service knows no other service's structs, so it serves the file that this makes.
"""

from typing import Any

import msgspec

from services.cli.openapi.events import event_schema, event_types, kind_example
from services.cli.openapi.operations import operations
from services.cli.openapi.request_schemas import REF
from services.cli.openapi.schemas import Schemas
from shared.events.kinds import KINDS

Json = dict[str, Any]
DEFS = "#/$defs/"


def event_types_bytes() -> bytes:
    """Deterministic, like the OpenAPI document."""
    named = [kind for operation in operations() for kind in operation.types]
    schemas = Schemas([*named, *event_types()])
    components = schemas.components()
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
    named: set[str] = set()
    todo: list[Any] = [schema]
    while todo:
        part = todo.pop()
        if isinstance(part, list):
            todo += part
        elif isinstance(part, dict):
            reference = part.get("$ref")
            name = reference.removeprefix(REF) if isinstance(reference, str) else None
            if name and name not in named:
                named.add(name)
                todo.append(components[name])
            todo += part.values()
    whole = {**schema, "$defs": {name: components[name] for name in sorted(named)}} if named else schema
    local: Json = msgspec.json.decode(msgspec.json.encode(whole).replace(REF.encode(), DEFS.encode()))
    return local
