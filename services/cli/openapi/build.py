"""Builds a document from its operations. Here is what the partners' and the operators' have in common."""

from collections import defaultdict
from collections.abc import Callable, Sequence
from typing import Any

import msgspec
from msgspec import Struct

from services.cli.openapi.code_samples import Api, code_samples
from services.cli.openapi.operations import Operation
from services.cli.openapi.operator_examples import NDJSON_LINE
from services.cli.openapi.parameters import SHARED_PARAMETERS, parameters
from services.cli.openapi.responses import HEADERS, NDJSON, Responses, content
from services.cli.openapi.schemas import Schemas

Json = dict[str, Any]
IMPORT_BODY: Json = {
    "schema": {"type": "string", "description": "NDJSON: one resource per line."},
    "example": NDJSON_LINE,
}


class Reference(Struct, frozen=True, kw_only=True):
    """What the two documents differ in. `head` is what stands before the servers."""

    head: Json
    prefix: str
    security_schemes: Json
    groups: dict[str, str]
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
            **self.head,
            "servers": [{"url": self.prefix, "description": "The host that served this document."}],
            "security": [{name: []} for name in self.security_schemes],
            "tags": [
                {"name": name, "description": text} for name, text in self.groups.items() if name in tags
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
            "parameters": parameters(operation, schemas, conditional=conditional),
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
