"""For a dry run: finds the earlier lines of a file that later ones refer to.

The server stores nothing, so each request sends them again. They are found with an index in a temporary
SQLite file, so that memory stays bounded whatever the size of the file.
"""

import sqlite3
from collections.abc import Iterable, Iterator
from typing import IO, Any, Final

import msgspec

from shared.wire import is_id

# Unique in their studio: two lines with the same one cannot both be stored.
_UNIQUE: Final = ("email", "slug", "key")
# Every build of SQLite allows this many parameters.
_PARAMETERS: Final = 500


class EarlierLines:
    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self._index = sqlite3.connect("")
        self._index.execute("CREATE TABLE names (name TEXT, at INTEGER, size INTEGER)")
        self._index.execute("CREATE INDEX by_name ON names (name)")

    def add(self, at: int, line: bytes) -> None:
        rows = [(name, at, len(line)) for name in _own_names(_read(line))]
        self._index.executemany("INSERT INTO names VALUES (?, ?, ?)", rows)

    def needed_by(self, lines: Iterable[bytes], studio: str | None) -> list[bytes]:
        """In the file's order, including the lines that these refer to in turn."""
        wanted = {studio.lower()} if studio else set()
        for line in lines:
            resource = _read(line)
            wanted |= _own_names(resource) | _referred(resource)
        found: dict[int, bytes] = {}
        looked_up: set[str] = set()
        while wanted - looked_up:
            places = self._places(wanted - looked_up)
            looked_up |= wanted
            wanted = set()
            for at, size in places:
                if at not in found:
                    found[at] = self._at(at, size)
                    wanted |= _referred(_read(found[at]))
        return [found[at] for at in sorted(found)]

    def close(self) -> None:
        self._index.close()

    def _places(self, names: set[str]) -> Iterator[tuple[int, int]]:
        ordered = sorted(names)
        for start in range(0, len(ordered), _PARAMETERS):
            part = ordered[start : start + _PARAMETERS]
            marks = ",".join("?" * len(part))
            yield from self._index.execute(f"SELECT at, size FROM names WHERE name IN ({marks})", part)  # noqa: S608

    def _at(self, at: int, size: int) -> bytes:
        here = self._file.tell()
        self._file.seek(at)
        line = self._file.read(size)
        self._file.seek(here)
        return line


def _read(line: bytes) -> dict[str, Any]:
    try:
        resource = msgspec.json.decode(line)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return {}
    return resource if isinstance(resource, dict) else {}


def _own_names(resource: dict[str, Any]) -> set[str]:
    """Names by which later lines may refer to this one, and names that they must not use again."""
    kind = resource.get("object")
    names = {str(resource.get("id")).lower()}
    for field in _UNIQUE:
        if isinstance(value := resource.get(field), str):
            names.add(f"{kind}.{field}:{value.strip().lower()}")
            if kind == "studio":
                names.add(value.lower())
    # All bookings of a class decide how full it is, and that decides who moves up from the waitlist.
    if kind in ("booking", "waitlist"):
        names.add(f"seats:{str(resource.get('class_id')).lower()}")
    return names


def _referred(resource: dict[str, Any]) -> set[str]:
    studio = resource.get("studio_id")
    named = {value.lower() for value in resource.values() if isinstance(value, str) and is_id(value)}
    return named | ({studio.lower()} if isinstance(studio, str) else set())
