"""The document as a whole: info, tags, paths, webhooks, components."""

from collections import defaultdict
from typing import Any

import msgspec

from services.cli.openapi.code_samples import code_samples
from services.cli.openapi.error_responses import ERROR_TYPES, shared_responses
from services.cli.openapi.events import event_types, webhooks
from services.cli.openapi.headers import HEADERS
from services.cli.openapi.limits import limits_by_text
from services.cli.openapi.operations import Operation, operations
from services.cli.openapi.overview import INFO, tags
from services.cli.openapi.parameters import SHARED_PARAMETERS, is_conditional, parameters
from services.cli.openapi.responses import NOT_MODIFIED, request_body, responses
from services.cli.openapi.schemas import Schemas
from shared.routing import ANY_KEY, PREFIX

Json = dict[str, Any]


def document() -> Json:
    known = operations()
    types = [kind for operation in known for kind in operation.types]
    schemas = Schemas([*types, *ERROR_TYPES, *event_types()])
    paths: dict[str, Json] = defaultdict(dict)
    for operation in known:
        paths[operation.path][operation.method.lower()] = _operation(operation, schemas)
    return {
        "openapi": "3.1.0",
        "info": INFO,
        "x-limits": limits_by_text(),
        "servers": [{"url": PREFIX, "description": "The host that served this document."}],
        "security": [{"ServiceKey": []}],
        "tags": tags([operation.tag for operation in known]),
        "paths": dict(paths),
        "webhooks": webhooks(schemas),
        "components": {
            "securitySchemes": {
                "ServiceKey": {
                    "type": "apiKey",
                    "in": "header",
                    "name": "X-Service-Key",
                    "description": "Only from a server. A key is bound to one studio and a set of scopes.",
                }
            },
            "parameters": SHARED_PARAMETERS,
            "headers": HEADERS,
            "responses": {"NotModified": NOT_MODIFIED, **shared_responses()},
            "schemas": schemas.components(),
        },
    }


def _operation(operation: Operation, schemas: Schemas) -> Json:
    route = operation.route
    scope = operation.scope
    needs = "Any valid key may call this." if scope == ANY_KEY else f"Required scope: `{scope}`."
    described: Json = {
        "operationId": operation.id,
        "summary": route.summary,
        "description": "\n\n".join(part for part in (route.description, needs) if part),
        "tags": [operation.tag],
        "parameters": parameters(route, schemas, conditional=is_conditional(route)),
        "responses": responses(operation, schemas),
        "security": [{"ServiceKey": [] if scope == ANY_KEY else [scope]}],
        "x-required-scope": None if scope == ANY_KEY else scope,
    }
    if route.body is not None:
        described["requestBody"] = request_body(route, schemas)
    samples = code_samples(operation.method, operation.path, described, SHARED_PARAMETERS)
    return described | {"x-codeSamples": samples}


def document_bytes() -> bytes:
    """Deterministic: the same code gives the same bytes on every machine."""
    return msgspec.json.format(msgspec.json.encode(document()), indent=1) + b"\n"
