"""Send a file of any size in chunks of whole lines, show progress, report bad lines."""

import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import IO, Any, Final

import msgspec
from msgspec import Struct

from services.cli.command import CommandFailed
from services.cli.operator_client import OperatorClient
from shared.wire import encode, is_id

CHUNK_LINES: Final = 5000
# A dry run sends the ids of the earlier lines that a chunk refers to, at most four for each line.
DRY_RUN_CHUNK_LINES: Final = 1500
CHUNK_BYTES: Final = 8 * 1024 * 1024
# All bad lines are printed to stderr; the report on stdout lists the first ones.
MAX_REPORTED: Final = 1000
Report = dict[str, Any]


class Chunk(Struct):
    first: int
    lines: list[bytes] = []
    size: int = 0


def import_path(
    client: OperatorClient,
    name: str,
    studio: str | None,
    *,
    dry_run: bool = False,
    send_events: bool = True,
) -> Report:
    if name == "-":
        with closing(sys.stdin.buffer) as file:
            return import_stream(client, file, studio, size=None, dry_run=dry_run, send_events=send_events)
    path = Path(name)
    try:
        with path.open("rb") as file:
            size = path.stat().st_size
            return import_stream(client, file, studio, size=size, dry_run=dry_run, send_events=send_events)
    except OSError as problem:
        raise CommandFailed(f"{name} cannot be read: {problem.strerror}") from None


def import_stream(
    client: OperatorClient,
    file: IO[bytes],
    studio: str | None,
    *,
    size: int | None,
    progress: bool = True,
    dry_run: bool = False,
    send_events: bool = True,
) -> Report:
    report: Report = {
        "object": "import_report",
        "lines": 0,
        "imported": 0,
        "rejected_count": 0,
        "rejected": [],
    }
    try:
        with _progress(size, shown=progress and sys.stderr.isatty()) as advance:
            if dry_run:
                responses = _check_chunks(client, file, studio)
            else:
                responses = _send_chunks(client, file, studio, send_events)
            for chunk, response in responses:
                report["lines"] += len(chunk.lines)
                report["imported"] += response["imported"]
                report["rejected_count"] += response["rejected_count"]
                report["rejected"] += response["rejected"][: max(0, MAX_REPORTED - len(report["rejected"]))]
                for bad in response["rejected"]:
                    print(f"line {bad['line']}: {bad['reason']}", file=sys.stderr)
                advance(chunk.size, report)
    except KeyboardInterrupt:
        done = f"Stopped after {report['lines']:,} lines; {report['imported']:,} are imported."
        again = "Importing the file again is safe."
        print("Stopped; nothing was stored." if dry_run else f"{done} {again}", file=sys.stderr)
        raise
    if dry_run:
        return {**report, "object": "import_check", "imported": 0, "valid": report["imported"]}
    return report


def _send_chunks(
    client: OperatorClient, file: IO[bytes], studio: str | None, send_events: bool
) -> Iterator[tuple[Chunk, Report]]:
    for chunk in _chunks(file, CHUNK_LINES):
        query = {"studio": studio, "first_line": str(chunk.first)}
        if not send_events:
            query["events"] = "false"
        yield chunk, client.request("POST", "/import", b"".join(chunk.lines), query=query)


def _check_chunks(
    client: OperatorClient, file: IO[bytes], studio: str | None
) -> Iterator[tuple[Chunk, Report]]:
    known = FileIds()
    for chunk in _chunks(file, DRY_RUN_CHUNK_LINES):
        resources = [_read(line) for line in chunk.lines]
        earlier = known.named_by(resources)
        query = {
            "studio": studio,
            "first_line": str(chunk.first),
            "dry_run": "true",
            "earlier_lines": str(len(earlier)),
        }
        body = b"".join([*(encode(line) + b"\n" for line in earlier), *chunk.lines])
        response = client.request("POST", "/import", body, query=query)
        bad = {row["line"] for row in response["rejected"]}
        for number, resource in enumerate(resources, chunk.first):
            if number not in bad:
                known.add(resource)
        yield chunk, response


class FileIds:
    """The ids of the lines that a dry run has accepted. The server stores nothing, so each request sends
    those that its lines refer to. They take about 130 MB for a million lines.
    """

    def __init__(self) -> None:
        self._studios: list[dict[str, Any]] = []
        self._heads: dict[str, tuple[str, str | None]] = {}
        self._shared: dict[tuple[str, str | None], tuple[str, str | None]] = {}

    def add(self, resource: dict[str, Any]) -> None:
        kind, id_, studio = (resource.get(name) for name in ("object", "id", "studio_id"))
        if kind == "studio":
            self._studios.append(resource)
        elif isinstance(kind, str) and isinstance(id_, str):
            kind_and_studio = (kind, studio)
            self._heads[id_.lower()] = self._shared.setdefault(kind_and_studio, kind_and_studio)

    def named_by(self, resources: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
        """All studios, whole, and what the resources refer to, as kind and id."""
        named = {
            value.lower()
            for resource in resources
            for value in resource.values()
            if isinstance(value, str) and is_id(value)
        }
        found = [(id_, *self._heads[id_]) for id_ in sorted(named & self._heads.keys())]
        return self._studios + [
            {"object": kind, "id": id_, "studio_id": studio} for id_, kind, studio in found
        ]


def _read(line: bytes) -> dict[str, Any]:
    try:
        resource = msgspec.json.decode(line)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return {}
    return resource if isinstance(resource, dict) else {}


def _chunks(file: IO[bytes], most: int) -> Iterator[Chunk]:
    """Never more than a chunk in memory."""
    chunk = Chunk(first=1)
    for line in file:
        chunk.lines.append(line)
        chunk.size += len(line)
        if len(chunk.lines) >= most or chunk.size >= CHUNK_BYTES:
            yield chunk
            chunk = Chunk(first=chunk.first + len(chunk.lines))
    if chunk.lines:
        yield chunk


@contextmanager
def _progress(size: int | None, *, shown: bool) -> Iterator[Callable[[int, dict[str, Any]], None]]:
    if not shown:
        yield lambda _, __: None
        return
    # Imported only for a terminal: without rich a service's imports take 0.93 of the memory.
    from rich.console import Console
    from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (
        TextColumn("{task.fields[lines]:,} lines"),
        BarColumn(),
        DownloadColumn(),
        TimeRemainingColumn(),
        TextColumn("{task.fields[bad]:,} bad"),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("import", total=size, lines=0, bad=0)
        yield lambda sent, report: bar.update(
            task, advance=sent, lines=report["lines"], bad=report["rejected_count"]
        )
