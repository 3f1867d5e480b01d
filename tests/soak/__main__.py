"""`make soak`: the large runs, one after the other: large data, long races and faults."""

import sys
from pathlib import Path

import pytest


def main() -> int:
    return int(pytest.main([str(Path(__file__).parent), "-s", "-vv", "-o", "norecursedirs=", *sys.argv[1:]]))


if __name__ == "__main__":
    sys.exit(main())
