"""`make test`: runs the suite with two workers. The few tests that fail are run once more, alone.

Many tests wait for real servers with a time limit, and on a busy machine one of thousands may miss it. A real
failure fails again. Tests that pass only alone are listed in the last lines, to be fixed.
"""

import json
import subprocess
import sys
from pathlib import Path

FAILED = Path(".pytest_cache/v/cache/lastfailed")
MOST_REPEATED = 10
TESTS_FAILED = 1


def main(words: list[str]) -> int:
    FAILED.unlink(missing_ok=True)
    code = _pytest("-n", "2", *words)
    failed = sorted(json.loads(FAILED.read_text())) if FAILED.exists() else []
    if code != TESTS_FAILED or not 0 < len(failed) <= MOST_REPEATED:
        return code
    sys.stdout.write(f"\nRunning the {len(failed)} failed again, alone.\n")
    sys.stdout.flush()
    again = _pytest("--last-failed", *words)
    if again == 0:
        sys.stdout.write("\n  ".join(["Passed only when run alone:", *failed]) + "\n")
    return again


def _pytest(*words: str) -> int:
    return subprocess.run([sys.executable, "-m", "pytest", *words], check=False).returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
