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

from services.cli.values import span

_INSTANT = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:\d\d)\Z")
# People copy these values, so each is printed in full on one line.
_WHOLE = ("id", "prefix", "key", "token", "slug")
_NARROWEST = 8
_GAP = 2

# Below this an outbox only holds what is on its way to the event log.
SLOW_OUTBOX_SECONDS = 30
# A delivery that waits longer is not only on its way.
SLOW_DELIVERY_SECONDS = 60
# Webhooks counts deliveries up to here.
MAX_COUNTED = 10_000

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


def status_lines(services: dict[str, Row]) -> Iterator[str]:
    """`studioctl status` on a terminal: a line per service, and the next command to run."""
    wide = max(map(len, services))
    for name, state in services.items():
        yield f"{name:<{wide}}  {state['status']:<11}  {_about(state)}".rstrip()
    figures = services.get("webhooks", {}).get("figures")
    if figures:
        yield ""
        yield from _queue_figures(figures["queues"])
        yield (
            f"deliveries: {_counted(figures['pending_deliveries'])} pending "
            f"(oldest {span(figures['oldest_pending_seconds'])}), {_counted(figures['dead_deliveries'])} dead"
        )
    yield ""
    yield from list(_steps(services)) or ["All well."]


def _counted(deliveries: int) -> str:
    return f"{deliveries} or more" if deliveries >= MAX_COUNTED else str(deliveries)


def _about(state: Row) -> str:
    parts = [
        f"{name}: {problem}"
        for name, problem in (state.get("parts") or {}).items()
        if problem not in ("ok", None)
    ]
    if "problem" in state:
        parts.append(state["problem"])
    figures = state.get("figures") or {}
    if "outbox_waiting" in figures:
        parts.append(_outbox(figures))
    return "; ".join(parts)


def _outbox(figures: Row) -> str:
    """Events that the log does not have yet. Overdue ones have waited for over a minute."""
    if not figures["outbox_waiting"]:
        return "outbox empty"
    overdue = f" ({figures['outbox_overdue']} overdue)" if figures["outbox_overdue"] else ""
    return (
        f"outbox {figures['outbox_waiting']} waiting{overdue}, oldest {span(figures['outbox_age_seconds'])}"
    )


def _queue_figures(queues: list[Row]) -> Iterator[str]:
    for queue in queues:
        yield f"queue {queue['name']}: {queue['waiting']} waiting, {queue['parked']} parked"


def _steps(services: dict[str, Row]) -> Iterator[str]:
    """The command for each problem."""
    for name, state in services.items():
        if state["status"] in ("unreachable", "not_ready"):
            yield f"{name} is not ready. Look at its log, then run: studioctl status"
        elif state["status"] == "degraded":
            yield f"{name} answers requests, but a part of it has a problem: see its line above."
        figures = state.get("figures") or {}
        if figures.get("outbox_age_seconds", 0) > SLOW_OUTBOX_SECONDS:
            yield f"{name} has events that are not logged. Is the broker up? Run: studioctl queues list"
    figures = services.get("webhooks", {}).get("figures") or {}
    for queue in figures.get("queues", ()):
        if queue["parked"]:
            yield f"{queue['name']} has parked messages. Run: studioctl queues parked {queue['name']}"
    for one in figures.get("failing_endpoints", ()):
        yield _failing(one)
    if figures.get("oldest_pending_seconds", 0) > SLOW_DELIVERY_SECONDS:
        yield f"Deliveries wait, the oldest for {span(figures['oldest_pending_seconds'])}."
    if figures.get("dead_deliveries"):
        yield "Deliveries are dead. Run: studioctl webhooks deliveries --status dead --studio SLUG"


def _failing(one: Row) -> str:
    """Red on a terminal that shows colours."""
    error, since = one["last_error"] or {}, datetime.fromisoformat(one["failing_since"])
    name = f"{one['description']} ({one['url']})" if one["description"] else one["url"]
    ago = span((datetime.now(UTC) - since).total_seconds())
    said = f": {error['error']}" if error.get("error") else ""
    text = _text(f"{name} has failed for {ago}, {one['pending']} waiting{said}", UTC)
    return f"\x1b[31m{text}\x1b[0m\n  Run: studioctl webhooks health --studio {one['studio_id']}"


def queue_lines(queues: list[Row]) -> Iterator[str]:
    yield from _queue_figures(queues)
    yield ""
    parked = [queue["name"] for queue in queues if queue["parked"]]
    for name in parked:
        yield f"Why they are parked:  studioctl queues parked {name}"
        yield f"Send them back:       studioctl queues requeue {name}"
    if not parked:
        yield "Nothing is parked."
