"""`python -m tests.clients.python`: pyright in strict mode over the Python client and what uses it."""

import subprocess
import sys

from tests.harness.npm_packages import NpmPackages
from tests.harness.process import ROOT

PYRIGHT = NpmPackages("pyright", ["pyright@1.1.414"])


def main() -> int:
    if reason := PYRIGHT.why_not():
        sys.stdout.write(f"The Python client is not checked by pyright: {reason}\n")
        return 0
    script = str(PYRIGHT.script("pyright/index.js"))
    return subprocess.run(
        ["node", script, "--pythonpath", sys.executable, "-p", str(ROOT / "clients/python")]
    ).returncode


if __name__ == "__main__":
    sys.exit(main())
