"""The operators' API as an OpenAPI document of its own."""

from collections import defaultdict
from collections.abc import Sequence
from http import HTTPStatus
from typing import Any

import msgspec

from services.cli.openapi.code_samples import Api, Credential, code_samples
from services.cli.openapi.descriptions.operators import TEXTS
from services.cli.openapi.descriptions.partners import TEXTS as PARTNER_TEXTS
from services.cli.openapi.operator_examples import BY_OPERATION, NDJSON_LINE, PARAMETERS, operator_example
from services.cli.openapi.operator_operations import (
    NDJSON,
    TAGS,
    OperatorOperation,
    operator_operations,
)
from services.cli.openapi.parameters import SHARED_PARAMETERS, parameters
from services.cli.openapi.responses import (
    BODY_ERRORS,
    COMMON_HEADERS,
    ERROR_TYPES,
    HEADERS,
    LIMIT_PROBLEM,
    described_errors,
    errors_by_status,
    headers,
)
from services.cli.openapi.schemas import Schemas
from services.gateway.errors import BadOperatorToken
from shared import errors
from shared.errors import DomainError
from shared.http.caller import InsufficientRole
from shared.http.routes import NoQuery, Route
from shared.routing import OPERATOR_PREFIX
from shared.wire import API_VERSION

Json = dict[str, Any]

ORIGIN = "http://127.0.0.1:8081"
OPERATORS = Api(
    f"{ORIGIN}{OPERATOR_PREFIX}", Credential("Authorization", "STUDIO_OPERATOR_TOKEN", prefix="Bearer ")
)
IMPORT_BODY = {
    "schema": {"type": "string", "description": "NDJSON: one resource per line."},
    "example": NDJSON_LINE,
}
DESCRIPTION = """\
For those who run the system and for a studio's desk. It has its own port, on loopback unless set otherwise,
and its own token. `studioctl` is a client of it.

- **Token.** Send `Authorization: Bearer …`: the operator token, or a staff token (`stf_…`), which belongs to
  one studio and has the role `staff` or `manager`. A refused token is 401; guesses are limited per address.
  The samples read the token from the environment variable `STUDIO_OPERATOR_TOKEN`.
- **Roles.** Each operation names the lowest role that may call it. An operator may do everything, a manager
  everything that staff may.
- **Studios** are named in the path by slug or id. What belongs to another studio gets a 404.
- **Lists and errors** have the same form as in the partner API.
"""
STATUS_TEXTS = {
    400: "The cursor is unknown, or the requested version is not supported.",
    401: "The token is missing or unknown.",
    403: "The token's role is too low.",
    404: "The resource does not exist or belongs to another studio.",
    409: "The current state does not allow the operation; `code` says why.",
    413: "The body is too large.",
    415: "The body is not JSON.",
    422: "The request is not valid; `detail` lists each problem and its location.",
    429: "Too many refused tokens from this address.",
    500: "Something went wrong on our side.",
    503: "A service is unreachable; nothing was done there.",
    504: "A service did not answer in time: the outcome is unknown.",
}
COMMON: tuple[type[DomainError], ...] = (
    errors.UnsupportedApiVersion,
    BadOperatorToken,
    errors.RateLimited,
    DomainError,
    errors.Unavailable,
    errors.UpstreamTimeout,
)


def operator_document() -> Json:
    known = operator_operations()
    schemas = Schemas([*(kind for operation in known for kind in operation.types), *ERROR_TYPES])
    paths: dict[str, Json] = defaultdict(dict)
    shared_errors: Json = {}
    for operation in known:
        described = _operation(operation, schemas, shared_errors)
        paths[operation.route.path][operation.route.method.lower()] = described
    used = {operation.tag for operation in known}
    components = schemas.components({**PARTNER_TEXTS, **TEXTS})
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Studio operators' API",
            "version": API_VERSION,
            "summary": "Studios, keys, imports, a desk's work and the state of the system.",
            "description": DESCRIPTION,
            "license": {"name": "MIT", "identifier": "MIT"},
        },
        "servers": [{"url": OPERATOR_PREFIX, "description": "The host that served this document."}],
        "security": [{"Token": []}],
        "tags": [{"name": name, "description": text} for name, text in TAGS.items() if name in used],
        "paths": dict(paths),
        "components": {
            "securitySchemes": {
                "Token": {
                    "type": "http",
                    "scheme": "bearer",
                    "description": "The operator token or a staff token.",
                }
            },
            "parameters": {name: SHARED_PARAMETERS[name] for name in ("ApiVersion", "RequestId")},
            "headers": {name: HEADERS[name] for name in COMMON_HEADERS},
            "responses": dict(sorted(shared_errors.items())),
            "schemas": components,
        },
    }


def _operation(operation: OperatorOperation, schemas: Schemas, shared_errors: Json) -> Json:
    route = operation.route
    described: Json = {
        "operationId": operation.id,
        "summary": route.summary,
        "description": f"{operation.description}\n\nRequired role: `{route.role}`.",
        "tags": [operation.tag],
        "parameters": _parameters(operation, schemas),
        "responses": _responses(route, schemas, shared_errors),
        "x-required-role": route.role,
    }
    if route.path == "/import":
        described["requestBody"] = {"required": True, "content": {NDJSON: IMPORT_BODY}}
    elif route.body is not None:
        content = {"application/json": _content(route.body, schemas)}
        described["requestBody"] = {"required": not route.optional_body, "content": content}
    samples = code_samples(route.method, route.path, described, SHARED_PARAMETERS, OPERATORS)
    return described | {"x-codeSamples": samples}


def _parameters(operation: OperatorOperation, schemas: Schemas) -> list[Json]:
    """With the demo studio's values: every field of the path, and the query fields that the sample sends."""
    own = BY_OPERATION.get(operation.id, {})
    found = []
    for one in parameters(operation.route, schemas):
        name = one.get("name", "")
        examples = {**PARAMETERS, **own} if one.get("in") == "path" else own
        found.append({**one, "example": examples[name]} if name in examples else one)
    return found


def _responses(route: Route[Any], schemas: Schemas, shared_errors: Json) -> Json:
    good: Json = {"description": HTTPStatus(route.status).phrase + ".", "headers": headers(*COMMON_HEADERS)}
    if route.answer is not None and route.status != HTTPStatus.NO_CONTENT:
        media = NDJSON if route.answer is str else "application/json"
        good["content"] = {media: _content(route.answer, schemas)}
    bad = {
        str(status): _error_response(status, kinds, shared_errors)
        for status, kinds in errors_by_status(_errors(route)).items()
    }
    return {str(route.status): good, **bad}


def _errors(route: Route[Any]) -> list[type[DomainError]]:
    kinds: list[type[DomainError]] = [*COMMON]
    if route.role != "staff":
        kinds.append(InsufficientRole)
    if "{" in route.path:
        kinds.append(errors.NotFound)
    if "{" in route.path or route.query is not NoQuery or route.body is not None:
        kinds.append(errors.Invalid)
    if route.body is not None:
        kinds += BODY_ERRORS
    if "cursor" in route.query.__struct_fields__:
        kinds.append(errors.InvalidCursor)
    # Staff need a role instead of a key's scopes.
    return [*kinds, *(kind for kind in route.errors if kind is not errors.InsufficientScope)]


def _error_response(status: int, kinds: Sequence[type[DomainError]], shared_errors: Json) -> Json:
    """A status with one code is the same in every operation, so it is described once."""
    described = described_errors(STATUS_TEXTS[status], kinds, LIMIT_PROBLEM, COMMON_HEADERS)
    if len(kinds) > 1:
        return described
    name = "".join(word.capitalize() for word in kinds[0].code.split("_"))
    shared_errors[name] = described
    return {"$ref": f"#/components/responses/{name}"}


def _content(kind: Any, schemas: Schemas) -> Json:
    content: Json = {"schema": schemas.of(kind)}
    if (example := operator_example(kind)) is not None:
        content["example"] = example
    return content


def operator_document_bytes() -> bytes:
    return msgspec.json.format(msgspec.json.encode(operator_document()), indent=1) + b"\n"
