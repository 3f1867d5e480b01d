"""`python -m services.cli.openapi [--write | --check]`; without an option it prints the document."""

import argparse
import sys
from pathlib import Path

import services.gateway
from services.cli.openapi.document import document_bytes

STATIC = Path(services.gateway.__path__[0]) / "static" / "openapi.json"


def main(arguments: list[str] | None = None, *, target: Path = STATIC) -> int:
    parser = argparse.ArgumentParser(prog="python -m services.cli.openapi", description=__doc__)
    choice = parser.add_mutually_exclusive_group()
    choice.add_argument("--write", action="store_true", help="write the file that the gateway serves")
    choice.add_argument("--check", action="store_true", help="exit 1 when that file is stale")
    options = parser.parse_args(arguments)
    made = document_bytes()
    if options.write:
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(made)
    elif options.check:
        if not target.exists() or target.read_bytes() != made:
            print("openapi.json is stale: run `python -m services.cli.openapi --write`.", file=sys.stderr)
            return 1
    else:
        sys.stdout.buffer.write(made)
    return 0


if __name__ == "__main__":
    sys.exit(main())
