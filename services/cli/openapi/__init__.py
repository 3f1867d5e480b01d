"""Generates the OpenAPI 3.1 documents from the services' own routes and structs.

`python -m services.cli.openapi --write` writes the files that the services serve. `--check` fails if a
committed file is stale.
"""
