"""Path ids, query fields and request headers."""

import re
from typing import Any

from services.cli.openapi.descriptions import PARAMETERS
from services.cli.openapi.examples import BY_OPERATION, PATH_EXAMPLES
from services.cli.openapi.operations import Operation
from services.cli.openapi.responses import ETAG
from services.cli.openapi.schemas import Schemas
from shared.http.routes import MAX_KEY_LENGTH, MIN_KEY_LENGTH, NoQuery
from shared.wire import API_VERSION

Json = dict[str, Any]
_IN_PATH = re.compile(r"\{(\w+)\}")
_KEY_SCHEMA: Json = {
    "type": "string",
    "minLength": MIN_KEY_LENGTH,
    "maxLength": MAX_KEY_LENGTH,
    "pattern": "^[ -~]*$",
}
# The gateway answers 404 to an encoded slash, in any path.
_KEY_IN_PATH: Json = {**_KEY_SCHEMA, "pattern": "^[ -.0-~]*$"}
_ID_SCHEMA: Json = {"type": "string", "format": "uuid"}
# Names of studios, clients and queues; printable characters of any script.
_NAME_SCHEMA: Json = {"type": "string", "minLength": 1, "pattern": "^[^\\x00-\\x1f\\x7f]*$"}

_NAMED: dict[str, tuple[str, Json]] = {
    "key": ("The Idempotency-Key that the write was sent with.", _KEY_IN_PATH),
    "studio": ("Slug or id of the studio.", _NAME_SCHEMA),
    "client": ("Name or id of the client.", _NAME_SCHEMA),
    "queue": ("Name of the queue.", _NAME_SCHEMA),
}

SHARED_PARAMETERS: Json = {
    "ApiVersion": {
        "name": "X-API-Version",
        "in": "header",
        "required": False,
        "description": "The API version you were built for. Without it the current version answers.",
        "schema": {"type": "string", "enum": [API_VERSION]},
    },
    "RequestId": {
        "name": "X-Request-Id",
        "in": "header",
        "required": False,
        "description": (
            "Your own id for this request: 1 to 128 of the characters `A-Z a-z 0-9 . _ : / + = @ -`. It is "
            "returned and appears in our logs. Anything else is not refused but replaced by a new id."
        ),
        "schema": {"type": "string"},
    },
    "IdempotencyKey": {
        "name": "Idempotency-Key",
        "in": "header",
        "required": True,
        "description": (
            "A new key for each operation, the same key for its retries. The first response is replayed for "
            "24 hours."
        ),
        "schema": _KEY_SCHEMA,
        "example": "order-20260803-0001",
    },
    "IfNoneMatch": {
        "name": "If-None-Match",
        "in": "header",
        "required": False,
        "description": (
            "The `ETag` of the response that you hold, several of them separated by commas, or `*`. If one "
            "of them is the tag of the current response, you get a 304 without a body."
        ),
        "schema": {"type": "string"},
        "example": ETAG,
    },
}


def parameters(operation: Operation, schemas: Schemas, *, conditional: bool) -> list[Json]:
    route = operation.route
    examples = BY_OPERATION.get(operation.id, {})
    found = [_path_parameter(name, PATH_EXAMPLES | examples) for name in _IN_PATH.findall(route.path)]
    if route.query is not NoQuery:
        fields = schemas.resolved(route.query)
        required = fields.get("required", [])
        for name, field in fields["properties"].items():
            example = {"example": examples[name]} if name in examples else {}
            found.append(_query_parameter(name, field, name in required) | example)
    own = ["IdempotencyKey"] if route.idempotent else ["IfNoneMatch"] if conditional else []
    names = [*own, "ApiVersion", "RequestId"]
    return found + [{"$ref": f"#/components/parameters/{name}"} for name in names]


def _path_parameter(name: str, examples: dict[str, str]) -> Json:
    id_of = f"Id of the {name.removesuffix('_id').replace('_', ' ')}."
    about, schema = _NAMED.get(name, (id_of, _ID_SCHEMA))
    return {
        "name": name,
        "in": "path",
        "required": True,
        "description": about,
        "schema": schema,
        "example": examples[name],
    }


def _query_parameter(name: str, field: Json, required: bool) -> Json:
    """A query string has no null: a nullable field is an optional parameter."""
    schema = {key: value for key, value in field.items() if key != "description"}
    if schema.get("default", ...) is None:
        del schema["default"]
    if "anyOf" in schema:
        kinds = [kind for kind in schema.pop("anyOf") if kind != {"type": "null"}]
        schema = {**kinds[0], **schema} if len(kinds) == 1 else {**schema, "anyOf": kinds}
    about = field.get("description", schema.pop("description", "")) or PARAMETERS.get(name, "")
    return {"name": name, "in": "query", "required": required, "description": about, "schema": schema}
