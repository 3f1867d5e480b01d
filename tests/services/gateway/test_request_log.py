"""The request log: a client's own requests, newest first; and for operators, how much each key is used."""

import asyncio
import time
from typing import Any

import pytest

from services.gateway import request_log
from services.gateway.request_log import BATCH, LIMITED_SHARE, MAX_REFUSED, RequestLog, error_code_in
from services.gateway.store import requests
from services.gateway.store.old_rows import delete_old_rows
from services.gateway.wire.request import RequestsQuery
from shared.db.database import Database
from shared.http.caller import Caller
from shared.observability.metrics import REQUEST_LOG_LEFT_OUT
from shared.wire import new_id
from tests.harness.console import session_of, with_session
from tests.harness.database_layout import opened_database
from tests.harness.databases import connected
from tests.harness.http import Client
from tests.harness.raw_http import connect, request
from tests.harness.system import System
from tests.services.cli.test_studioctl import studioctl
from tests.services.cli.test_studioctl_on_a_terminal import screen


async def logged(client: Client, count: int, **query: Any) -> list[dict[str, Any]]:
    page = await client.until("/requests", lambda page: len(page["data"]) >= count, **query)
    rows: list[dict[str, Any]] = page["data"]
    return rows


async def test_a_client_sees_its_own_requests_and_no_others(system: System) -> None:
    """Those of all its keys, but not those of another client or another studio."""
    issued = await system.issue(client="Mine")
    second, other = await system.issue(client="Mine"), await system.issue(client="Other")
    client, request_id = system.partner(issued["key"]), f"mine-{new_id()}"
    await system.partner(other["key"]).send("GET", "/studio", headers={"X-Request-Id": request_id})
    await system.partner(second["key"]).send("GET", "/studio", headers={"X-Request-Id": request_id})
    await client.send("GET", f"/classes/{new_id()}", headers={"X-Request-Id": request_id})
    refused, good = await logged(client, 2, request_id=request_id)
    shown = {"object": "request", "method": "GET", "route": "/studio", "status": 200, "error_code": None}
    shown |= {"key_id": second["id"], "request_id": request_id, "source": "key"}
    shown |= {"key_name": second["name"], "key_prefix": second["prefix"]}
    assert good == shown | {name: good[name] for name in ("id", "at", "duration_ms")}
    told = (refused["route"], refused["status"], refused["error_code"])
    assert told == ("/classes/{class_id}", 404, "not_found")
    rows = await logged(system.partner(other["key"]), 1, request_id=request_id)
    assert [row["key_id"] for row in rows] == [other["id"]]


async def test_waiting_for_an_event_is_not_slowness(system: System) -> None:
    """A client that follows the log would otherwise have the worst p95 of all.

    One that hangs up before there is an event got no status. So the log has none to show.
    """
    key, request_id = await system.key(client="Follower"), f"gone-{new_id()}"
    client = system.partner(key)
    gone = await connect(system.running.partner_url)
    path = "/partner/v1/events?after_sequence=0&wait=1"
    await gone.write(request("GET", path, X_Service_Key=key, X_Request_Id=request_id))
    await asyncio.sleep(0.5)
    gone.close()
    began = time.monotonic()
    # When this one ends, the other would have ended, too.
    await client.get("/events", after_sequence=0, wait=2)
    assert time.monotonic() - began > 1.5, "control: it did wait"
    (row,) = await logged(client, 1, route="/events")
    assert row["duration_ms"] < 1000 and row["request_id"] != request_id


async def test_requests_are_found_by_status_route_error_and_source(system: System) -> None:
    """Newest first with a cursor; another client's is refused. The filters combine. A console session's
    requests are those of its client, and told apart.
    """
    key = await system.key(client="Filters")
    client = system.partner(key)
    page = with_session(system, await session_of(system, key))
    assert (await page.get("/studio")).status == 200
    for path in ("/studio", f"/leads/{new_id()}", f"/leads/{new_id()}", "/unknown"):
        await client.get(path)
    await logged(client, 6)

    async def found(**query: Any) -> list[tuple[str, str | None]]:
        return [(row["source"], row["route"]) for row in await logged(client, 1, **query)]

    refused = [("key", None), ("key", "/leads/{lead_id}"), ("key", "/leads/{lead_id}")]
    assert await found(status_class="4xx") == refused
    assert await found(source="console") == [("console", "/studio")]
    assert await found(route="/studio") == [("key", "/studio"), ("console", "/studio")]
    assert await found(route="/studio", source="key") == [("key", "/studio")]
    assert await found(error_code="not_found", route="/leads/{lead_id}") == refused[1:]
    for query in ({"source": "elsewhere"}, {"status_class": "6xx"}):
        assert (await client.get("/requests", **query)).status == 422
    rows = await logged(client, 3, status_class="4xx")
    first = (await client.get("/requests", status_class="4xx", limit=2)).json()
    rest = await client.get("/requests", status_class="4xx", limit=2, cursor=first["next_cursor"])
    assert first["data"] + rest.json()["data"] == rows
    stranger = system.partner(await system.key(client="Strange"))
    assert (await stranger.get("/requests", cursor=rows[0]["id"])).code == "invalid_cursor"


# Rows, by this transaction.
READ = """
SELECT (seq_tup_read + coalesce(idx_tup_fetch, 0))::int FROM pg_stat_xact_user_tables
WHERE relname = 'requests' AND schemaname = 'gateway'
"""


async def test_each_filter_has_its_index(db: Database, database_url: str) -> None:
    """A rare row is found in a log of many."""
    caller = Caller(studio_id=new_id(), client_id=new_id(), key_id=new_id())
    log = RequestLog(db)
    for _ in range(20):
        for _ in range(500):
            log.add(a_row(200, caller=caller))
        await log.write()
    log.add((1.0, caller, "GET", "/rare", 404, "rare", 0.001, "rare", "console"))
    await log.write()
    async with connected(database_url) as admin:
        await admin.execute("ANALYZE gateway.requests")
    async with db.transaction() as conn:
        for query in (
            RequestsQuery(route="/rare"),
            RequestsQuery(error_code="rare"),
            RequestsQuery(source="console"),
            RequestsQuery(status_class="4xx"),
            RequestsQuery(request_id="rare"),
        ):
            before = await conn.fetchval(READ)
            assert len((await requests.page(conn, caller, query)).data) == 1
            assert await conn.fetchval(READ) - before < 20, query


def a_row(status: int, at: float = 1_700_000_000.0, caller: Caller | None = None) -> request_log.Row:
    caller = caller or Caller(studio_id=new_id(), client_id=new_id(), key_id=new_id())
    return (at, caller, "GET", "/studio", status, None, 0.001, new_id(), "key")


async def test_under_a_storm_refused_requests_stay_and_the_rest_is_counted(db: Database) -> None:
    """At ten times the write limit memory is bounded, refused requests are written first, all are counted."""
    caller = Caller(studio_id=new_id(), client_id=new_id(), key_id=new_id())
    log, before = RequestLog(db), REQUEST_LOG_LEFT_OUT._value.get()
    for number in range(10 * BATCH):
        log.add(a_row(500 if number % 20 == 0 else 200, 1_700_000_000.0 + number, caller))
    refused = BATCH // 2
    await log.write()
    assert REQUEST_LOG_LEFT_OUT._value.get() - before == 10 * BATCH - BATCH
    async with db.connection() as conn:
        query = RequestsQuery(status_class="5xx", limit=200)
        assert len((await requests.page(conn, caller, query)).data) == 200
        counts = dict(await conn.fetch("SELECT status, count(*) FROM requests GROUP BY status"))
        used = await conn.fetchrow("SELECT sum(requests), sum(errors) FROM key_usage")
    assert counts == {500: refused, 200: BATCH - refused}
    assert tuple(used or ()) == (10 * BATCH, refused)
    for _ in range(MAX_REFUSED + 10):
        log.add(a_row(404))
    assert len(log._refused.rows) == MAX_REFUSED


async def test_a_client_that_ignores_its_limit_pushes_nobody_out_of_the_log(db: Database) -> None:
    """All of another client's requests are listed; of the 429s a sample, and the key's usage counts them."""
    storm, other = (Caller(studio_id=new_id(), client_id=new_id(), key_id=new_id()) for _ in range(2))
    log = RequestLog(db)
    for number in range(30_000):
        log.add(a_row(429, caller=storm))
        if number % 2_000 == 0:
            log.add(a_row(404, caller=other))
            log.add(a_row(429, caller=other))
    log.add(a_row(404, caller=storm))
    await log.write()
    async with db.connection() as conn:
        rows = await conn.fetch("SELECT client_id::text, status, count(*) FROM requests GROUP BY 1, 2")
        used = await conn.fetchrow(
            "SELECT sum(requests), sum(errors) FROM key_usage WHERE key_id = $1", storm.key_id
        )
    assert {tuple(row) for row in rows} == {
        (other.client_id, 404, 15),
        (other.client_id, 429, 15),
        (storm.client_id, 429, LIMITED_SHARE),
        (storm.client_id, 404, 1),
    }
    assert tuple(used or ()) == (30_001, 30_001)


async def rows_in(db: Database) -> int:
    async with db.connection() as conn:
        return int(await conn.fetchval("SELECT count(*) FROM requests"))


async def test_a_batch_that_failed_is_written_when_the_gateway_stops(db: Database, database_url: str) -> None:
    """Nothing that was queued is lost. An unavailable database does not delay the shutdown."""
    async with opened_database(database_url, "gateway") as away:
        log = RequestLog(away)
    log.add(a_row(200))
    with pytest.raises(Exception, match=r".*"):
        await log.write()
    log._db = db
    await log.write_last()
    assert await rows_in(db) == 1
    log.add(a_row(200))
    await db.close()
    await log.write_last()


def test_the_code_is_read_off_an_error_and_cannot_be_feigned() -> None:
    """From a plain error and from a 422; a value with such text in it is escaped."""
    assert error_code_in(b'{"error":{"type":"conflict","code":"class_full","message":""}}') == "class_full"
    problems = b'{"detail":[{"msg":"\\"error\\":{\\"type\\":\\"a\\",\\"code\\":\\"b\\""}],'
    assert (
        error_code_in(problems + b'"error":{"type":"x","code":"validation_failed"}}') == "validation_failed"
    )
    assert error_code_in(b"not json") is None


async def test_requests_errors_and_last_use_are_counted_for_each_key(system: System) -> None:
    """Two keys of one client are counted separately, and one that was never used is shown with zeros.

    A second batch is added to the first; from tomorrow on nothing was counted. A cursor of another studio's
    list is refused, and so is a studio that does not exist.
    """
    busy, quiet, third = [await system.issue(client="Booking site") for _ in range(3)]
    mine = {"studio": system.studio_id}

    async def counted(requests: int) -> Any:
        page = await system.operator.until(
            "/usage",
            lambda page: page["data"][0]["requests"] >= requests and page["data"][0]["last_used_at"],
            **mine,
        )
        return page["data"]

    partner = system.partner(busy["key"])
    for _ in range(3):
        assert (await partner.get("/studio")).status == 200
    await counted(3)
    assert (await partner.get(f"/classes/{new_id()}")).status == 404
    row, unused, _ = await counted(4)
    assert (row["id"], row["requests"], row["errors"]) == (busy["id"], 4, 1)
    assert (row["client_name"], row["prefix"]) == ("Booking site", busy["prefix"])
    assert (unused["id"], unused["requests"], unused["errors"]) == (quiet["id"], 0, 0)
    assert unused["last_used_at"] is None
    later = (await system.operator.get("/usage", since="2999-01-01T00:00:00Z", **mine)).json()["data"]
    assert later[0]["requests"] == 0
    first = (await system.operator.get("/usage", limit=2, **mine)).json()
    rest = (await system.operator.get("/usage", limit=2, cursor=first["next_cursor"], **mine)).json()
    assert [row["id"] for row in rest["data"]] == [third["id"]]
    other = await system.new_studio()
    refused = await system.operator.get("/usage", studio=other, cursor=first["next_cursor"])
    assert refused.code == "invalid_cursor"
    assert (await system.operator.get("/usage", studio="nobody")).status == 404
    listed = (await studioctl(system, "usage", "--studio", system.studio_id, "--since", "24h")).json()
    assert [row["id"] for row in listed["data"]] == [busy["id"], quiet["id"], third["id"]]
    text, code = await screen(system, "usage", "--studio", system.studio_id, columns=40)
    assert (code, busy["prefix"] in text, "Booking site" in text, "errors" in text) == (0, True, True, True)


async def test_an_operator_finds_the_request_that_a_partner_quotes(system: System) -> None:
    """By its id alone, with the client's and the key's name; a manager in the own studio only."""
    issued, request_id = await system.issue(client="Quoting"), f"quoted-{new_id()}"
    await system.partner(issued["key"]).send("GET", "/nothing", headers={"X-Request-Id": request_id})
    page = await system.operator.until("/requests", lambda page: page["data"], request_id=request_id)
    (row,) = page["data"]
    assert (row["status"], row["client_name"], row["key_prefix"]) == (404, "Quoting", issued["prefix"])
    assert row["studio_id"] == system.studio_id
    of_client = (await system.operator.get("/requests", client="Quoting", studio=system.studio_id)).json()
    assert row in of_client["data"]
    none = await system.operator.get("/requests", client="Quoting", error_code="class_full")
    assert none.json()["data"] == []
    assert (await system.operator.get("/requests")).status == 422
    assert (await system.operator.get("/requests", client="Nobody")).status == 404
    assert (await system.operator.get("/requests", client="Quoting", cursor="x")).status == 400
    other = await system.new_studio()
    manager = system.staff((await system.staff_token("manager", other))["token"])
    assert (await manager.get("/requests", request_id=request_id)).json()["data"] == []


async def test_requests_are_counted_by_status_for_a_histogram(system: System) -> None:
    """Without those of the console. Every bar is there, also where nothing happened."""
    client = system.partner(await system.key(client="Bars"))
    for path in ("/studio", "/studio", "/nothing"):
        await client.get(path)

    def totals(page: dict[str, Any]) -> tuple[int, int]:
        return sum(bar["status_2xx"] for bar in page["data"]), sum(bar["status_4xx"] for bar in page["data"])

    for window, bars in {"1h": 60, "24h": 48, "7d": 56}.items():
        page = await client.until(
            "/requests/counts", lambda page: totals(page)[0] >= 2 and totals(page)[1] == 1, window=window
        )
        assert (len(page["data"]), page["window"]) == (bars, window)
        assert page["p95_ms"] > 0 and page["data"][0]["p95_ms"] is None
    same = (await system.operator.get("/requests/counts", client="Bars", studio=system.studio_id)).json()
    assert totals(same)[1] == 1
    console = (await client.get("/requests/counts", source="console")).json()
    assert totals(console) == (0, 0)
    assert (await client.get("/requests/counts", window="1y")).status == 422


OLD = """
INSERT INTO request_minutes SELECT $1, $2, 'key', now() - make_interval(days => $3), 0, 1, 0, 0, 0
"""
OLD_STATUS = "INSERT INTO status_history VALUES (now() - make_interval(mins => $1), '{}')"
COUNT = "SELECT count(*) FROM "


async def test_requests_and_counts_are_kept_for_seven_days(db: Database) -> None:
    """And the status for an hour. Older ones are deleted, a batch at a time."""
    log, ids = RequestLog(db), [new_id(), new_id()]
    async with db.connection() as conn:
        seconds = float(await conn.fetchval("SELECT extract(epoch FROM clock_timestamp())::float8"))
        for days in (6.9, 7.1):
            log.add(a_row(200, seconds - days * 86400))
        await log.write()
        for days in (6, 8):  # or 48 and 64 minutes
            await conn.execute(OLD, *ids, days)
            await conn.execute(OLD_STATUS, days * 8)
        assert not await delete_old_rows(conn)
        assert await conn.fetchval(COUNT + "request_minutes WHERE client_id = $1", ids[1]) == 1
        assert await conn.fetchval(COUNT + "status_history WHERE sample = '{}'") == 1
    assert await rows_in(db) == 1


async def test_the_server_keeps_an_hour_of_its_status(system: System) -> None:
    """The first sample is there within seconds of a start."""
    page = await system.operator.until("/status/history", lambda page: page["data"])
    sample = page["data"][-1]
    assert sample["services"]["bookings"] in ("ready", "degraded")
    assert {"outbox_waiting", "pending_deliveries", "requests", "p95_ms"} <= set(sample)
