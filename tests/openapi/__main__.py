"""`python -m tests.openapi`: lints the documents that are served, where node and npm can be had."""

import sys

from services.cli.openapi.__main__ import STATIC
from tests.harness.npm_packages import NpmPackages
from tests.openapi.lint import INSTALLED, problems

DOCUMENTS = ("openapi.json", "operators.json")


def main(installed: NpmPackages = INSTALLED) -> int:
    if reason := installed.why_not():
        sys.stdout.write(f"The OpenAPI documents were not linted: {reason}.\n")
        return 0
    found = problems([STATIC / name for name in DOCUMENTS])
    for line in found:
        sys.stderr.write(f"{line}\n")
    sys.stdout.write(f"{len(DOCUMENTS)} OpenAPI documents linted, {len(found)} problems.\n")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
