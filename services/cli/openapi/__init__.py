"""The OpenAPI 3.1 document of the whole partner API, from the routes and structs that the services run on.

`python -m services.cli.openapi --write` writes it where the gateway serves it from; `--check` tells when what
is committed has gone stale.
"""

from services.cli.openapi.document import document, document_bytes

__all__ = ["document", "document_bytes"]
