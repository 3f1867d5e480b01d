"""`python -m tests.openapi`: Redocly's linter over the documents that are served, with the rules of
redocly.yaml, where node and npm can be had.
"""

import os
import re
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from services.cli.openapi.__main__ import STATIC
from tests.harness.npm_packages import NpmPackages

DOCUMENTS = ("openapi.json", "operators.json")
RULES = Path(__file__).with_name("redocly.yaml")
INSTALLED = NpmPackages("redocly", ["@redocly/cli@2.73.0"])
# It would report each run to its makers and look for a newer version.
QUIET = {"REDOCLY_TELEMETRY": "off", "REDOCLY_SUPPRESS_UPDATE_NOTICE": "true", "NO_COLOR": "1"}
SECONDS = 300


def problems(documents: Sequence[Path]) -> list[str]:
    """A line for each; the packages must be there."""
    assert INSTALLED.why_not() is None, INSTALLED.why_not()
    linter = INSTALLED.script("@redocly/cli/bin/cli.js")
    done = subprocess.run(
        ["node", linter, "lint", *documents, "--config", RULES, "--format", "stylish"],
        env={**os.environ, **QUIET},
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )
    found = re.findall(r"^ +\d+:\d+ .*$", done.stdout, re.MULTILINE)
    if bool(found) != bool(done.returncode):
        return [f"the linter itself failed: {done.stderr.strip()[-500:]}"]
    return [re.sub(r" {2,}", " ", line.strip()) for line in found]


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
