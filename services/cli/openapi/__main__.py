"""`python -m services.cli.openapi [--write | --check]`; without an option it prints the partners' one."""

import argparse
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import services.gateway
import services.webhooks
from services.cli.openapi.build import document_json
from services.cli.openapi.document import document, operator_document
from services.cli.openapi.events import event_types_bytes
from services.cli.openapi.guides import guides

STATIC = Path(services.gateway.__path__[0]) / "static"
DOCUMENTS: dict[str, Callable[[], dict[str, Any]]] = {
    "openapi.json": document,
    "operators.json": operator_document,
    "guides.json": guides,
}
EVENT_TYPES = Path(services.webhooks.__path__[0]) / "event_types.json"


def main(
    arguments: list[str] | None = None, *, folder: Path = STATIC, event_types: Path = EVENT_TYPES
) -> int:
    parser = argparse.ArgumentParser(prog="python -m services.cli.openapi", description=__doc__)
    choice = parser.add_mutually_exclusive_group()
    choice.add_argument("--write", action="store_true", help="write the files that the services serve")
    choice.add_argument("--check", action="store_true", help="exit 1 when one of them is stale")
    options = parser.parse_args(arguments)
    if not options.write and not options.check:
        sys.stdout.buffer.write(document_json(document()))
        return 0
    made = {folder / name: document_json(make()) for name, make in DOCUMENTS.items()}
    made[event_types] = event_types_bytes()
    if options.write:
        folder.mkdir(parents=True, exist_ok=True)
        for path, content in made.items():
            path.write_bytes(content)
        return 0
    stale = [path for path, content in made.items() if not path.exists() or path.read_bytes() != content]
    for path in stale:
        print(f"{path.name} is stale: run `python -m services.cli.openapi --write`.", file=sys.stderr)
    return 1 if stale else 0


if __name__ == "__main__":
    sys.exit(main())
