"""Builds a document from its operations. Here is what the partners' and the operators' have in common."""

import re
from collections import defaultdict
from collections.abc import Callable, Sequence
from typing import Any

import msgspec
from msgspec import Struct

from services.cli.openapi.code_samples import Api, code_samples
from services.cli.openapi.examples import BY_OPERATION, NDJSON_LINE, PATH_EXAMPLES
from services.cli.openapi.operations import Operation
from services.cli.openapi.responses import ETAG, HEADERS, NDJSON, Responses, content
from services.cli.openapi.schemas import PARTNERS, Schemas
from shared.http.routes import MAX_KEY_LENGTH, MIN_KEY_LENGTH, NoQuery
from shared.wire import API_VERSION

Json = dict[str, Any]
IMPORT_BODY: Json = {
    "schema": {"type": "string", "description": "NDJSON: one resource per line."},
    "example": NDJSON_LINE,
}
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
    "OptionalIdempotencyKey": {
        "name": "Idempotency-Key",
        "in": "header",
        "required": False,
        "description": (
            "With it the write can be repeated: it has one effect, and its first response is replayed for 24 "
            "hours. A secret that is shown once is null in a replay."
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


class Reference(Struct, frozen=True, kw_only=True):
    """What the two documents differ in. `more_head` stands after the info."""

    tables: dict[str, dict[str, str]]
    description: str
    more_head: Json
    prefix: str
    security_schemes: Json
    texts: dict[str, str]
    responses: Responses
    response_order: Callable[[str], Any]
    api: Api

    def build(self, operations: Sequence[Operation], schemas: Schemas, more: Json) -> Json:
        paths: dict[str, Json] = defaultdict(dict)
        shared: Json = {}
        for operation in operations:
            described = self._operation(operation, schemas, shared)
            paths[operation.route.path][operation.route.method.lower()] = described
        tags = {operation.tag for operation in operations}
        used = msgspec.json.encode([paths, shared]).decode()
        return {
            "openapi": "3.1.0",
            "info": {
                "title": self.tables["document"]["title"],
                "version": API_VERSION,
                "summary": self.tables["document"]["summary"],
                "description": self.description,
                "license": {"name": "MIT", "identifier": "MIT"},
            },
            **self.more_head,
            "servers": [{"url": self.prefix, "description": "The host that served this document."}],
            "security": [{name: []} for name in self.security_schemes],
            "tags": [
                {"name": name, "description": text}
                for name, text in self.tables["groups"].items()
                if name in tags
            ],
            "paths": dict(paths),
            **more,
            "components": {
                "securitySchemes": self.security_schemes,
                "parameters": _used(SHARED_PARAMETERS, "parameters", used),
                "headers": _used(HEADERS, "headers", used),
                "responses": {name: shared[name] for name in sorted(shared, key=self.response_order)},
                "schemas": schemas.components(self.texts),
            },
        }

    def _operation(self, operation: Operation, schemas: Schemas, shared: Json) -> Json:
        route = operation.route
        conditional = self.responses.is_conditional(route)
        described: Json = {
            "operationId": operation.id,
            "summary": route.summary,
            "description": operation.description,
            "tags": [operation.tag],
            "parameters": parameters(
                operation,
                schemas,
                conditional=conditional,
                repeatable=self.responses.for_partners and route.repeatable,
            ),
            "responses": self.responses.of(operation, schemas, shared),
            **operation.access,
        }
        if route.path == "/import":
            described["requestBody"] = {"required": True, "content": {NDJSON: IMPORT_BODY}}
        elif route.body is not None:
            body = content(route.body, schemas)
            described["requestBody"] = {"required": not route.optional_body, "content": body}
        samples = code_samples(route.method, route.path, described, SHARED_PARAMETERS, self.api)
        return described | {"x-codeSamples": samples}


def _used(parts: Json, kind: str, text: str) -> Json:
    """The parts that the text refers to."""
    return {name: part for name, part in parts.items() if f'"#/components/{kind}/{name}"' in text}


def document_json(document: Json) -> bytes:
    """Deterministic: the same code gives the same bytes on every machine."""
    return msgspec.json.format(msgspec.json.encode(document), indent=1) + b"\n"


def parameters(operation: Operation, schemas: Schemas, *, conditional: bool, repeatable: bool) -> list[Json]:
    route = operation.route
    examples = BY_OPERATION.get(operation.id, {})
    found = [_path_parameter(name, PATH_EXAMPLES | examples) for name in _IN_PATH.findall(route.path)]
    if route.query is not NoQuery:
        fields = schemas.resolved(route.query)
        required = fields.get("required", [])
        for name, field in fields["properties"].items():
            example = {"example": examples[name]} if name in examples else {}
            found.append(_query_parameter(name, field, name in required) | example)
    own = ["IfNoneMatch"] if conditional else []
    if route.idempotent:
        own = ["IdempotencyKey"]
    elif repeatable:
        own = ["OptionalIdempotencyKey"]
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
    about = field.get("description", schema.pop("description", "")) or PARTNERS["parameters"].get(name, "")
    return {"name": name, "in": "query", "required": required, "description": about, "schema": schema}
