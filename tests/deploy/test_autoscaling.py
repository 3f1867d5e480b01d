"""Autoscaling: every service has an autoscaler, Postgres has room for all replicas, KEDA counts only what one
more replica could send. Volumes are computed from a rate and from bytes that were measured.
"""

import json
import re
import runpy
from typing import Any
from urllib.parse import urlsplit

from services.webhooks.actions.prune import keep_weeks
from services.webhooks.rules.retention import KEPT, WEEK
from shared.db.database import RESERVED, service_url
from shared.wire import new_id, now
from tests.deploy.chart import DEPLOYMENTS, KUBERNETES, named, read, rendered
from tests.harness.databases import connected
from tests.harness.receiver import receiving
from tests.harness.system import ROOT
from tests.services.webhooks.studio_client import StudioClient, open_studio_client

MANIFESTS = rendered()
SCALED = named(MANIFESTS, "ScaledObject")["webhooks-dispatch"]["spec"]
[TRIGGER] = SCALED["triggers"]
QUERY = TRIGGER["metadata"]["query"]
TARGET = int(TRIGGER["metadata"]["targetQueryValue"])
# Written directly into the table, so that no dispatcher sends what is waiting.
WAITING = """
WITH made AS (
    INSERT INTO events (studio_id, id, sequence, type, created_at, body)
    SELECT $4, gen_random_uuid(), (SELECT count(*) FROM events) + n, 'booking.created', now(), ''
    FROM generate_series(1, $2::int) AS n RETURNING studio_id, id, sequence, type, created_at
), woken AS (
    UPDATE lanes SET due_at = now() + interval '1 hour' WHERE endpoint_id = $1)
INSERT INTO deliveries
    (studio_id, id, endpoint_id, event_id, event_type, sequence, step, created_at, event_created_at)
SELECT studio_id, gen_random_uuid(), $1, id, type, sequence, $3, created_at, created_at FROM made
"""


async def _endpoint(client: StudioClient, waiting: int, *, step: int = 0) -> str:
    made = await client.endpoint(f"https://partner.example/{new_id()}")
    await client.sql(WAITING, made["id"], waiting, step, client.studio_id)
    return str(made["id"])


async def _waiting_deliveries(database_url: str) -> int:
    """As KEDA queries it: with the service's own role, without a search path."""
    async with connected(service_url(database_url, "webhooks")) as conn:
        return int(await conn.fetchval(QUERY))


async def test_only_work_that_a_replica_can_take_is_counted(database_url: str) -> None:
    """Ten more replicas would not send disabled, deleted, paused or retried deliveries any sooner."""
    async with open_studio_client(database_url) as client:
        await _endpoint(client, 40)
        disabled, deleted, paused = [await _endpoint(client, 100) for _ in range(3)]
        await _endpoint(client, 100, step=1)
        await client.sql("UPDATE endpoints SET status = 'disabled' WHERE id = $1", disabled)
        await client.sql("UPDATE endpoints SET deleted_at = now() WHERE id = $1", deleted)
        await client.sql(
            "UPDATE lanes SET paused_until = now() + interval '1 hour' WHERE endpoint_id = $1", paused
        )
        assert await _waiting_deliveries(database_url) == 40
        await client.sql("UPDATE lanes SET paused_until = now() WHERE endpoint_id = $1", paused)
        assert await _waiting_deliveries(database_url) == 140
        # One replica sends all deliveries of an endpoint, however many wait.
        await _endpoint(client, TARGET + 500)
        assert await _waiting_deliveries(database_url) == 140 + TARGET


async def test_the_query_reads_no_more_than_the_maximum_of_replicas_needs(database_url: str) -> None:
    """10,000 endpoints with 500 deliveries each were five million rows per poll. Here a hundredth of it."""
    assert QUERY.count(f"LIMIT {TARGET})") == QUERY.count(f"LIMIT {TARGET * SCALED['maxReplicaCount']})") == 1
    target, most = TARGET // 100, TARGET * SCALED["maxReplicaCount"] // 100
    small = QUERY.replace(f"LIMIT {TARGET * SCALED['maxReplicaCount']})", f"LIMIT {most})")
    small = small.replace(f"LIMIT {TARGET})", f"LIMIT {target})")
    async with open_studio_client(database_url) as client:
        for _ in range(20):
            await _endpoint(client, target - 10)
        async with connected(service_url(database_url, "webhooks")) as conn:
            # A few hundred rows are read as a whole by a scan, millions are not.
            await conn.execute("SET enable_seqscan = off")
            assert await conn.fetchval(small) == most
            [plan] = json.loads(await conn.fetchval(f"EXPLAIN (ANALYZE, FORMAT JSON) {small}"))
    assert most - target < _rows_read(plan["Plan"], "deliveries") < most + target


def _rows_read(plan: Any, table: str) -> float:
    """By the scans of a table and its partitions, with those that a filter took away. Loops are averaged."""
    own = 0.0
    if str(plan.get("Relation Name", "")).startswith(table):
        own = (plan["Actual Rows"] + plan.get("Rows Removed by Filter", 0)) * plan["Actual Loops"]
    return own + sum(_rows_read(part, table) for part in plan.get("Plans", ()))


def _ranges() -> dict[str, tuple[int, int]]:
    """Minimum and maximum replicas, by deployment."""
    found = {
        hpa["spec"]["scaleTargetRef"]["name"]: (hpa["spec"]["minReplicas"], hpa["spec"]["maxReplicas"])
        for hpa in named(MANIFESTS, "HorizontalPodAutoscaler").values()
    }
    return found | {SCALED["scaleTargetRef"]["name"]: (SCALED["minReplicaCount"], SCALED["maxReplicaCount"])}


def test_in_production_every_service_is_scaled_and_only_by_its_autoscaler() -> None:
    """Each upgrade would reset replicas to the number in the manifest, in the middle of the load. It would
    also start the services that a restore has scaled to zero.
    """
    ranges = _ranges()
    assert set(ranges) == set(named(MANIFESTS, "Deployment")) == set(DEPLOYMENTS)
    for name, deployment in named(MANIFESTS, "Deployment").items():
        assert "replicas" not in deployment["spec"], name
        budget = named(MANIFESTS, "PodDisruptionBudget")[name]["spec"]
        assert budget["maxUnavailable"] < ranges[name][0], "a node can be drained and somebody still answers"


def test_postgres_has_a_connection_for_every_replica_that_autoscaling_allows() -> None:
    """All at their maximum, one more of each during a rollout, and some for administrators."""
    pool = int(named(MANIFESTS, "ConfigMap")["studio-settings"]["data"]["STUDIO_POOL_SIZE"]) + RESERVED
    needed = sum(
        (most + 1) * pool * (2 if name == "webhooks-dispatch" else 1) for name, (_, most) in _ranges().items()
    )
    allowed = named(MANIFESTS, "Cluster")["studio-db"]["spec"]["postgresql"]["parameters"]["max_connections"]
    assert needed + 30 <= int(allowed), needed


def test_what_keda_reads_can_be_used_from_its_own_namespace() -> None:
    """A bare host name is resolved in the namespace of the client."""
    secrets = named(read(KUBERNETES / "secrets.example.yaml"), "Secret")
    [authentication] = named(MANIFESTS, "TriggerAuthentication").values()
    [source] = authentication["spec"]["secretTargetRef"]
    url = secrets[source["name"]]["stringData"][source["key"]]
    assert str(urlsplit(url).hostname).endswith(".studio.svc")


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
    database = named(MANIFESTS, "Cluster")["studio-db"]
    rate = float(database["metadata"]["annotations"]["studio/sized-for-events-per-second"])
    needed = SIZING["sizes"](rate)
    broker = named(MANIFESTS, "RabbitmqCluster")["studio-broker"]["spec"]["persistence"]["storage"]
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
    parameters = named(MANIFESTS, "Cluster")["studio-db"]["spec"]["postgresql"]["parameters"]
    assert parameters["max_wal_size"] == f"{SIZING['WAL_BASE_GIB']}GB"
    config = named(MANIFESTS, "RabbitmqCluster")["studio-broker"]["spec"]["rabbitmq"]["additionalConfig"]
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
        await receiver.until_count(2 * EVENTS, seconds=90)
        events, deliveries = [(await client.sql(TOTAL, kind))[0][0] for kind in ("^events", "^deliveries")]
    per_event = (events - before[0]) / EVENTS
    per_delivery = (deliveries - before[1]) / (2 * EVENTS)
    assert 0.7 < per_event / SIZING["BYTES_PER_EVENT"] < 1.4, per_event
    # In such a short run, updated rows that are not vacuumed yet take twice the space.
    assert 0.7 < per_delivery / SIZING["BYTES_PER_DELIVERY"] < 2.5, per_delivery
