"""Volumes are computed from a rate and from bytes that were measured, not guessed."""

import re
import runpy
from typing import Any

from services.webhooks.actions.prune import keep_weeks
from services.webhooks.rules.retention import KEPT, WEEK
from shared.wire import now
from tests.deploy.chart import named, rendered
from tests.harness.eventually import eventually
from tests.harness.receiver import Receiver, receiving
from tests.harness.system import ROOT
from tests.services.webhooks.studio_client import open_studio_client

SIZING: dict[str, Any] = runpy.run_path(str(ROOT / "deploy" / "sizing.py"))
EVENTS = 900
TOTAL = """
SELECT coalesce(sum(pg_total_relation_size(c.oid)), 0)::bigint FROM pg_class c
WHERE c.relnamespace = 'webhooks'::regnamespace AND c.relkind = 'r' AND c.relname ~ $1
"""
# About as long as a booking is with its names; measured events had 700 bytes.
PADDING = {"note": "x" * 550}


def _gib(text: str) -> float:
    assert text.endswith("Gi")
    return float(text.removesuffix("Gi"))


def test_the_production_volumes_fit_the_rate_that_they_name() -> None:
    """Change the rate, and the volumes must follow; twice as large would be waste."""
    manifests = rendered()
    database = named(manifests, "Cluster")["studio-db"]
    rate = float(database["metadata"]["annotations"]["studio/sized-for-events-per-second"])
    needed = SIZING["sizes"](rate)
    broker = named(manifests, "RabbitmqCluster")["studio-broker"]["spec"]["persistence"]["storage"]
    given = {
        "database volume": _gib(database["spec"]["storage"]["size"]),
        "WAL volume": _gib(database["spec"]["walStorage"]["size"]),
        "broker volume": _gib(broker),
    }
    for name, size in given.items():
        assert needed[name] <= size <= needed[name] * 2, (name, needed[name])


def test_the_script_counts_with_the_retention_that_the_code_has() -> None:
    """And with the base that postgresql.conf and rabbitmq.conf give."""
    assert (SIZING["DAYS_KEPT"], SIZING["DAYS_PER_TABLE"]) == (KEPT.days, WEEK.days)
    manifests = rendered()
    parameters = named(manifests, "Cluster")["studio-db"]["spec"]["postgresql"]["parameters"]
    assert parameters["max_wal_size"] == f"{SIZING['WAL_BASE_GIB']}GB"
    config = named(manifests, "RabbitmqCluster")["studio-broker"]["spec"]["rabbitmq"]["additionalConfig"]
    assert f"disk_free_limit.absolute = {SIZING['QUEUE_BASE_GIB']}GB" in config


def test_the_page_shows_what_the_script_computes() -> None:
    """The table in docs/operating/scale.md is for reading; these are its numbers."""
    text = (ROOT / "docs" / "operating" / "scale.md").read_text()
    rows = re.findall(r"^\| (\d+) \| (\d+) \| (\d+) \| (\d+) \| (\d+) \|$", text, re.MULTILINE)
    assert len(rows) == 3
    for rate, *shown in rows:
        sizes = SIZING["sizes"](float(rate))
        names = ("database volume", "WAL volume", "broker volume", "archived WAL")
        assert [round(sizes[name]) for name in names] == [int(number) for number in shown]


async def test_an_event_and_a_delivery_take_the_bytes_that_are_counted_with(database_url: str) -> None:
    """A new column or index would fill the volumes early: measured on the real tables."""
    async with receiving() as receiver, open_studio_client(database_url) as client:
        for _ in range(2):
            await client.endpoint(receiver.url)
        # Otherwise the service's loop adds an empty week meanwhile.
        await keep_weeks(client.context, now())
        before = [(await client.sql(TOTAL, kind))[0][0] for kind in ("^events", "^deliveries")]
        for _ in range(EVENTS // 300):
            await client.publish(*(client.event(data=PADDING) for _ in range(300)))

        async def all_arrived() -> Receiver | None:
            return receiver if len(receiver.received) >= 2 * EVENTS else None

        await eventually(all_arrived, seconds=90)
        events, deliveries = [(await client.sql(TOTAL, kind))[0][0] for kind in ("^events", "^deliveries")]
    per_event = (events - before[0]) / EVENTS
    per_delivery = (deliveries - before[1]) / (2 * EVENTS)
    assert 0.7 < per_event / SIZING["BYTES_PER_EVENT"] < 1.4, per_event
    # In such a short run, updated rows that are not vacuumed yet take twice the space.
    assert 0.7 < per_delivery / SIZING["BYTES_PER_DELIVERY"] < 2.5, per_delivery
