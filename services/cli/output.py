"""JSON with --json or when stdout is not a terminal, a readable table otherwise."""

import json
import sys
from typing import Any


def show(answer: Any, *, as_json: bool, columns: tuple[str, ...] = ()) -> None:
    if as_json or not sys.stdout.isatty():
        print(json.dumps(answer, indent=2, ensure_ascii=False))
        return
    # Imported only for a terminal, so that a service that shares these modules does not carry it.
    from rich.console import Console
    from rich.table import Table

    rows = answer["data"] if isinstance(answer, dict) and answer.get("object") == "list" else [answer]
    if columns and isinstance(answer, dict) and answer.get("object") == "list":
        table = Table()
        for column in columns:
            table.add_column(column, overflow="fold")  # an id that is cut off cannot be copied
        for row in rows:
            table.add_row(*(_text(row.get(column)) for column in columns))
        Console().print(table if rows else "Nothing yet.")
        return
    table = Table(show_header=False, box=None)
    for name, value in answer.items():
        table.add_row(f"[bold]{name}[/]", _text(value))
    Console().print(table)


def _text(value: Any) -> str:
    if value is None:
        return "—"
    if isinstance(value, list):
        return ", ".join(str(part) for part in value)
    if isinstance(value, dict):
        return json.dumps(value, ensure_ascii=False)
    return str(value)
