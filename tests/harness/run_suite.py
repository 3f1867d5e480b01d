"""`make test`: the suite with three workers, which wait more than they compute.

The last lines name what failed; no test runs again.
"""

import json
import subprocess
import sys
from pathlib import Path

FAILED = Path(".pytest_cache/v/cache/lastfailed")


def main(words: list[str]) -> int:
    FAILED.unlink(missing_ok=True)
    code = subprocess.run([sys.executable, "-m", "pytest", "-n", "3", *words], check=False).returncode
    if FAILED.exists() and (failed := sorted(json.loads(FAILED.read_text()))):
        sys.stdout.write("\n  ".join([f"\n{len(failed)} failed:", *failed]))
        sys.stdout.write(f"\nTo run one of them: .venv/bin/python -m pytest '{failed[0]}'\n")
    return code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
