"""Send a file of any size in chunks of whole lines, show progress, report bad lines."""

import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Final

from msgspec import Struct

from services.cli.command import CommandFailed
from services.cli.operator_client import OperatorClient

if TYPE_CHECKING:
    from services.cli.earlier_lines import EarlierLines

CHUNK_LINES: Final = 5000
# A dry run sends a chunk with the earlier lines that it refers to; together they must fit into one request.
DRY_RUN_CHUNK_LINES: Final = 1000
DRY_RUN_LINES: Final = 10_000
DRY_RUN_BYTES: Final = 24 * 1024 * 1024
CHUNK_BYTES: Final = 8 * 1024 * 1024
# All bad lines are printed to stderr; the report on stdout lists the first ones.
MAX_REPORTED: Final = 1000
Report = dict[str, Any]


class Chunk(Struct):
    first: int
    at: int
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
        with _rereadable(sys.stdin.buffer) if dry_run else closing(sys.stdin.buffer) as file:
            return import_stream(client, file, studio, size=None, dry_run=dry_run, send_events=send_events)
    path = Path(name)
    try:
        with path.open("rb") as file:
            size = path.stat().st_size
            return import_stream(client, file, studio, size=size, dry_run=dry_run, send_events=send_events)
    except OSError as problem:
        raise CommandFailed(f"{name} cannot be read: {problem.strerror}") from None


@contextmanager
def _rereadable(piped: IO[bytes]) -> Iterator[IO[bytes]]:
    with tempfile.TemporaryFile() as file:
        shutil.copyfileobj(piped, file)
        file.seek(0)
        yield file


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
    # Not above: it loads SQLite, also into each service.
    from services.cli.earlier_lines import EarlierLines

    with closing(EarlierLines(file)) as known:
        for whole in _chunks(file, DRY_RUN_CHUNK_LINES):
            for chunk, earlier in _with_earlier_lines(known, whole, studio):
                query = {
                    "studio": studio,
                    "first_line": str(chunk.first),
                    "dry_run": "true",
                    "earlier_lines": str(len(earlier)),
                }
                response = client.request("POST", "/import", b"".join([*earlier, *chunk.lines]), query=query)
                bad = {row["line"] for row in response["rejected"]}
                at = chunk.at
                for number, line in enumerate(chunk.lines, chunk.first):
                    if number not in bad and line.strip():
                        known.add(at, line)
                    at += len(line)
                yield chunk, response


def _with_earlier_lines(
    known: "EarlierLines", chunk: Chunk, studio: str | None
) -> Iterator[tuple[Chunk, list[bytes]]]:
    """Lazy, because the second half of a chunk may refer to lines of its first half."""
    earlier = known.needed_by(chunk.lines, studio)
    lines = len(earlier) + len(chunk.lines)
    if len(chunk.lines) > 1 and (
        lines > DRY_RUN_LINES or chunk.size + sum(map(len, earlier)) > DRY_RUN_BYTES
    ):
        for half in _halves(chunk):
            yield from _with_earlier_lines(known, half, studio)
        return
    yield chunk, earlier


def _halves(chunk: Chunk) -> tuple[Chunk, Chunk]:
    middle = len(chunk.lines) // 2
    first, second = chunk.lines[:middle], chunk.lines[middle:]
    size = sum(map(len, first))
    return (
        Chunk(first=chunk.first, at=chunk.at, lines=first, size=size),
        Chunk(first=chunk.first + middle, at=chunk.at + size, lines=second, size=chunk.size - size),
    )


def _chunks(file: IO[bytes], most: int) -> Iterator[Chunk]:
    """Never more than a chunk in memory."""
    chunk = Chunk(first=1, at=0)
    for line in file:
        chunk.lines.append(line)
        chunk.size += len(line)
        if len(chunk.lines) >= most or chunk.size >= CHUNK_BYTES:
            yield chunk
            chunk = Chunk(first=chunk.first + len(chunk.lines), at=chunk.at + chunk.size)
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
