"""Send a file of any size in chunks of whole lines, show progress, report bad lines."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, Final

from services.cli.errors import CommandFailed
from services.cli.operator_client import OperatorClient

CHUNK_LINES: Final = 5000
CHUNK_BYTES: Final = 8 * 1024 * 1024
# All bad lines are printed to stderr; the report on stdout lists the first ones.
MAX_REPORTED: Final = 1000


def import_path(
    client: OperatorClient, name: str, studio: str | None, *, send_events: bool = True
) -> dict[str, Any]:
    if name == "-":
        return import_stream(client, sys.stdin.buffer, studio, size=None, send_events=send_events)
    path = Path(name)
    try:
        with path.open("rb") as file:
            size = path.stat().st_size
            return import_stream(client, file, studio, size=size, send_events=send_events)
    except OSError as problem:
        raise CommandFailed(f"{name} cannot be read: {problem.strerror}") from None


def import_stream(
    client: OperatorClient,
    file: IO[bytes],
    studio: str | None,
    *,
    size: int | None,
    progress: bool = True,
    send_events: bool = True,
) -> dict[str, Any]:
    report: dict[str, Any] = {
        "object": "import_report",
        "lines": 0,
        "imported": 0,
        "rejected_count": 0,
        "rejected": [],
    }
    try:
        with _progress(size, shown=progress and sys.stderr.isatty()) as advance:
            for first, count, chunk in _chunks(file):
                query = {"studio": studio, "first_line": str(first)}
                if not send_events:
                    query["events"] = "false"
                answer = client.request("POST", "/import", chunk, query=query)
                report["lines"] += count
                report["imported"] += answer["imported"]
                report["rejected_count"] += answer["rejected_count"]
                report["rejected"] += answer["rejected"][: max(0, MAX_REPORTED - len(report["rejected"]))]
                for bad in answer["rejected"]:
                    print(f"line {bad['line']}: {bad['reason']}", file=sys.stderr)
                advance(len(chunk), report)
    except KeyboardInterrupt:
        done = f"Stopped after {report['lines']:,} lines; {report['imported']:,} are imported."
        print(f"{done} Importing the file again is safe.", file=sys.stderr)
        raise
    return report


def _chunks(file: IO[bytes]) -> Iterator[tuple[int, int, bytes]]:
    """(number of the first line, lines, bytes), never more than a chunk in memory."""
    first, lines, size = 1, list[bytes](), 0
    for line in file:
        lines.append(line)
        size += len(line)
        if len(lines) >= CHUNK_LINES or size >= CHUNK_BYTES:
            yield first, len(lines), b"".join(lines)
            first, lines, size = first + len(lines), [], 0
    if lines:
        yield first, len(lines), b"".join(lines)


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
