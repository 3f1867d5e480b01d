"""`python -m tests.conventions`, a part of `make check`: prints every violation, and exits with 1 if any."""

import sys

from tests.conventions.names_and_sizes import oversized, retired_names, tracked_files


def main() -> int:
    files = tracked_files()
    found = [*retired_names(files), *oversized(files)]
    sys.stderr.write("".join(f"{line}\n" for line in found))
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
