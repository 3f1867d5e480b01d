"""`python -m tests.conventions`, a part of `make check`: prints every violation, and exits with 1 if any.

No retired word in a name, no Python file too long.
"""

import re
import subprocess
import sys
import tokenize
from collections.abc import Iterable, Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
FOLDERS = ("services", "shared", "tests", "bench")
# Words that were used as private metaphors, with what to say instead. They may not come back as names.
RETIRED_WORDS = {
    "together": "batch, batcher",
    "lend": "acquire",
    "lent": "acquired",
    "lender": "connection pool",
    "lending": "connection pool",
    "mend": "reset",
    "mending": "resetting",
    "telling": "event builders, error lines",
    "hand": "prefetch",
    "hands": "prefetch",
    "handed": "passed",
    "under_way": "in flight",
    "asked": "request, query, lookup",
    "asking": "request",
    "stirred": "has unread input",
    "beside": "optional, side by side, with",
    "patience": "timeout",
    "patient": "wait for locks",
}
# A reason to look for a seam.
MAX_LINES = 400
# Migrations are recorded in databases by their names, so those cannot change.
FIXED_NAMES = re.compile(r"/migrations/")
_WORD = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z0-9]+|[A-Z]+")
_RETIRED = tuple(tuple(word.split("_")) for word in RETIRED_WORDS)


def tracked_files(root: Path = ROOT, folders: Iterable[str] = FOLDERS) -> list[Path]:
    """Tracked and new files, without those that git ignores."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "--", *folders]
    names = subprocess.run(command, cwd=root, capture_output=True, text=True, check=True).stdout.splitlines()
    return [path for name in names if (path := root / name).exists()]


def retired_word_in(name: str) -> str | None:
    words = tuple(word.lower() for word in _WORD.findall(name))
    for retired in _RETIRED:
        for start in range(len(words) - len(retired) + 1):
            if words[start : start + len(retired)] == retired:
                return "_".join(retired)
    return None


def retired_names(files: Iterable[Path]) -> Iterator[str]:
    """Test functions are named with whole sentences, so they are prose and not looked at."""
    for path in files:
        if not FIXED_NAMES.search(path.as_posix()) and (word := retired_word_in(path.name)):
            yield f"{path}: the file name contains {word!r}; say {RETIRED_WORDS[word]}"
        if path.suffix != ".py":
            continue
        seen: set[str] = set()
        with path.open("rb") as file:
            for token in tokenize.tokenize(file.readline):
                name = token.string
                if token.type != tokenize.NAME or name in seen or name.startswith("test_"):
                    continue
                seen.add(name)
                if word := retired_word_in(name):
                    yield f"{path}:{token.start[0]}: {name} contains {word!r}; say {RETIRED_WORDS[word]}"


def oversized(files: Iterable[Path]) -> Iterator[str]:
    sizes = {path: len(path.read_text().splitlines()) for path in files if path.suffix == ".py"}
    for path, size in sizes.items():
        if size > MAX_LINES:
            yield f"{path} has {size} lines; the maximum is {MAX_LINES}"


def main() -> int:
    files = tracked_files()
    found = [*retired_names(files), *oversized(files)]
    sys.stderr.write("".join(f"{line}\n" for line in found))
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
