"""`python -m clients.generate --write | --check`: write the generated files, or find stale ones."""

import sys

from clients.generate import python, typescript
from clients.generate.document import ROOT, read_document


def main(arguments: list[str]) -> int:
    if arguments not in (["--write"], ["--check"]):
        sys.exit(__doc__)
    document = read_document()
    files = python.files(document) | typescript.files(document)
    if arguments == ["--write"]:
        for path, text in files.items():
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        return 0
    stale = [path for path, text in files.items() if not path.exists() or path.read_text() != text]
    for path in stale:
        sys.stderr.write(f"{path.relative_to(ROOT)} is stale: run `python -m clients.generate --write`.\n")
    return 1 if stale else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
