"""`make size-report`: how large the project is, and with BASE=REV how large it was at an older commit."""

import argparse
import ast
import subprocess
import sys
import tempfile
from collections.abc import Iterable
from pathlib import Path
from statistics import median

from bench.compare.checkout import checked_out, described, described_tree
from bench.working_tree import HERE, WorkingTree
from tests.size_report.running import Running, measure


def main() -> int:
    parser = argparse.ArgumentParser(prog="make size-report", description=__doc__)
    parser.add_argument("--base", metavar="REV", help="the older commit")
    parser.add_argument("--files", action="store_true", help="list the files on a booking's way")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="studio-size-") as made:
        folder = Path(made)
        folder.chmod(0o711)
        columns: dict[str, dict[str, int]] = {}
        if given.base:
            with checked_out(given.base, folder) as tree:
                columns[described(given.base)] = _figures(tree, measure(tree, folder / "base"), given.files)
        here = _figures(HERE, measure(HERE, folder / "here"), given.files)
        columns[described_tree()] = here
    _print("\n".join(["In columns:", *columns, ""]))
    for name in here:
        figures = [column.get(name, 0) for column in columns.values()]
        _print(f"{name:<60}" + "".join(f"{figure:>10,}" for figure in figures))
    return 0


def _figures(tree: WorkingTree, running: Running, list_files: bool) -> dict[str, int]:
    listed = subprocess.run(["git", "ls-files"], cwd=tree.path, capture_output=True, text=True, check=True)
    names = [name for name in listed.stdout.splitlines() if (tree.path / name).is_file()]

    def sizes(*endings: str, under: tuple[str, ...] = ("",)) -> list[int]:
        return _lines(tree.path / name for name in names if name.startswith(under) and name.endswith(endings))

    if list_files:
        _print("\n".join([f"{tree.path}:", *running.way, *running.loops, ""]))
    product = sizes(".py", under=("shared/", "services/"))
    return {
        "product Python, lines": sum(product),
        "product Python, files": len(product),
        "median lines of a file": int(median(product)),
        "lines of the largest file": max(product),
        "shared/events, lines": sum(sizes(".py", under=("shared/events/",))),
        "files on a booking's way to its webhook": len(running.way),
        "lines of these files": sum(_lines(tree.path / name for name in running.way)),
        "background loops of five services": len(running.loops),
        "settings": _settings(tree.path / "shared" / "settings.py"),
        "tests, lines of Python": sum(sizes(".py", under=("tests/",))),
        "SQL, lines": sum(sizes(".sql")),
        "YAML, lines": sum(sizes(".yaml", ".yml")),
    }


def _lines(files: Iterable[Path]) -> list[int]:
    return [len(file.read_text().splitlines()) for file in files]


def _settings(file: Path) -> int:
    [settings] = [
        node
        for node in ast.parse(file.read_text()).body
        if isinstance(node, ast.ClassDef) and node.name == "Settings"
    ]
    return sum(isinstance(node, ast.AnnAssign) for node in settings.body)


def _print(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
