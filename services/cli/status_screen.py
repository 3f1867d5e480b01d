"""`studioctl status` and `queues list` on a terminal: a line per service, and the next command to run."""

from collections.abc import Iterator
from typing import Any

from services.cli.values import span

Json = dict[str, Any]
# Below this an outbox only holds what is on its way to the event log.
SLOW_OUTBOX_SECONDS = 30


def status_lines(services: dict[str, Json]) -> Iterator[str]:
    wide = max(map(len, services))
    for name, state in services.items():
        yield f"{name:<{wide}}  {state['status']:<11}  {_about(state)}".rstrip()
    figures = services.get("webhooks", {}).get("figures")
    if figures:
        yield ""
        yield from _queue_figures(figures["queues"])
        yield (
            f"deliveries: {figures['pending_deliveries']} pending "
            f"(oldest {span(figures['oldest_pending_seconds'])}), {figures['dead_deliveries']} dead"
        )
    yield ""
    yield from next_steps(services)


def _about(state: Json) -> str:
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


def _outbox(figures: Json) -> str:
    """Events that the log does not have yet. Overdue ones have waited for over a minute."""
    if not figures["outbox_waiting"]:
        return "outbox empty"
    overdue = f" ({figures['outbox_overdue']} overdue)" if figures["outbox_overdue"] else ""
    return (
        f"outbox {figures['outbox_waiting']} waiting{overdue}, oldest {span(figures['outbox_age_seconds'])}"
    )


def _queue_figures(queues: list[Json]) -> Iterator[str]:
    for queue in queues:
        yield f"queue {queue['name']}: {queue['waiting']} waiting, {queue['parked']} parked"


def next_steps(services: dict[str, Json]) -> Iterator[str]:
    """The command for each problem, or one sentence if there is none."""
    steps = list(_steps(services))
    yield from steps or ["All well."]


def _steps(services: dict[str, Json]) -> Iterator[str]:
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
    if figures.get("dead_deliveries"):
        yield "Deliveries are dead. Run: studioctl webhooks deliveries --status dead --studio SLUG"


def queue_lines(queues: list[Json]) -> Iterator[str]:
    yield from _queue_figures(queues)
    yield ""
    parked = [queue["name"] for queue in queues if queue["parked"]]
    for name in parked:
        yield f"Why they are parked:  studioctl queues parked {name}"
        yield f"Send them back:       studioctl queues requeue {name}"
    if not parked:
        yield "Nothing is parked."
