"""Generates the OpenAPI 3.1 document of the partner API from the services' own routes and structs.

`python -m services.cli.openapi --write` writes the file that the gateway serves. `--check` fails if the
committed file is stale.
"""

from services.cli.openapi.document import document, document_bytes

__all__ = ["document", "document_bytes"]
