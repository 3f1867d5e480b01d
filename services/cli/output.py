"""What a command prints: JSON for programs; tables, records and the steps of a start for people."""

import json
import re
import shutil
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime, tzinfo
from typing import Any

_INSTANT = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:\d\d)\Z")
# People copy these values, so each is printed in full on one line.
_WHOLE = ("id", "prefix", "key", "token", "slug")
_NARROWEST = 8
_GAP = 2

Row = dict[str, Any]


def show(response: Any, *, as_json: bool, columns: Sequence[str] = (), zone: tzinfo | None = None) -> None:
    if as_json:
        print(json.dumps(response, indent=2, ensure_ascii=False))
    elif columns and isinstance(response, dict) and isinstance(response.get("data"), list):
        _print_rows(response["data"], columns, zone or UTC)
        if response.get("has_more"):
            print("There are more; raise --limit to see them.", file=sys.stderr)
    else:
        _print_record(response, zone or UTC)


def _print_rows(rows: list[Row], columns: Sequence[str], zone: tzinfo) -> None:
    """A table if the unwrapped columns fit on the screen with the others, otherwise one block per row."""
    if not rows:
        print("Nothing yet.")
        return
    texts = [[_text(row.get(column), zone) for column in columns] for row in rows]
    widths = [
        max(len(column), *(len(line[at]) for line in texts)) if _is_whole(column) else _NARROWEST
        for at, column in enumerate(columns)
    ]
    width = shutil.get_terminal_size().columns
    if sum(widths) + _GAP * (len(widths) - 1) > width:
        for line in texts:
            _print_pairs(zip(columns, line, strict=True))
            print()
        return
    # Imported only for a terminal, so that a service that uses these modules does not load it.
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False, padding=(0, _GAP, 0, 0), header_style="bold")
    for column, least in zip(columns, widths, strict=True):
        whole = _is_whole(column)
        table.add_column(column.replace("_", " "), no_wrap=whole, min_width=least, overflow="fold")
    for line in texts:
        table.add_row(*map(Text, line))
    Console(width=width, highlight=False).print(table)


def _is_whole(column: str) -> bool:
    return column in _WHOLE or column.endswith("_id")


def _print_record(response: Any, zone: tzinfo) -> None:
    if not isinstance(response, dict):
        print(_text(response, zone))
        return
    _print_pairs((name, _text(value, zone)) for name, value in response.items())


def _print_pairs(pairs: Any) -> None:
    """Not wrapped here: a narrow terminal breaks the line itself, and a copied value stays in one piece."""
    known = list(pairs)
    left = max((len(name) for name, _ in known), default=0)
    for name, value in known:
        print(f"{name.replace('_', ' '):<{left}}  {value}")


def _text(value: Any, zone: tzinfo) -> str:
    if value is None:
        return "—"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list):
        return ", ".join(_text(part, zone) for part in value) or "—"
    if isinstance(value, dict):
        return json.dumps(value, ensure_ascii=False)
    if isinstance(value, str) and _INSTANT.match(value):
        return when(value, zone)
    # Text that people typed must not contain terminal control sequences.
    return "".join(letter if letter.isprintable() else "�" for letter in str(value))


def when(text: str, zone: tzinfo) -> str:
    return datetime.fromisoformat(text).astimezone(zone).strftime("%Y-%m-%d %H:%M %Z")


@contextmanager
def step(what: str) -> Iterator[None]:
    """Show the seconds on a terminal while the step runs. Elsewhere print nothing: the log has it."""
    if not sys.stderr.isatty():
        yield
        return
    # Imported only for a terminal: it takes memory that a server does not need.
    from rich.console import Console

    console = Console(stderr=True, highlight=False)
    began = time.monotonic()
    with console.status(_Elapsed(what, began)):
        yield
    console.print(f"  {what}: {time.monotonic() - began:.1f} s")


class _Elapsed:
    """Rendered anew for each frame of the spinner."""

    def __init__(self, what: str, began: float) -> None:
        self._what = what
        self._began = began

    def __rich__(self) -> str:
        return f"{self._what} … {time.monotonic() - self._began:.0f} s"
