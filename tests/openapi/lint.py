"""Redocly's linter over the OpenAPI documents, with the rules of redocly.yaml."""

import os
import re
import subprocess
from collections.abc import Sequence
from pathlib import Path

from tests.harness.npm_packages import NpmPackages

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
