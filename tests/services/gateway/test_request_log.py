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
    """A client that follows the log would otherwise have the worst p95 of all."""
    client = system.partner(await system.key(client="Follower"))
    position = (await client.get("/events")).json()["latest_sequence"]
    began = time.monotonic()
    await client.get("/events", after_sequence=position, wait=2)
    assert time.monotonic() - began > 1.5, "control: it did wait"
    rows = await logged(client, 2, route="/events")
    assert all(row["duration_ms"] < 1000 for row in rows)


async def test_a_request_that_nobody_waits_for_any_more_was_not_answered(system: System) -> None:
    """A client that hangs up before there is an event got no status. So the log has none to show."""
    key, request_id = await system.key(client="Impatient"), f"gone-{new_id()}"
    client = system.partner(key)
    gone = await connect(system.running.partner_url)
    path = "/partner/v1/events?after_sequence=0&wait=2"
    await gone.write(request("GET", path, X_Service_Key=key, X_Request_Id=request_id))
    await asyncio.sleep(0.5)
    gone.close()
    # When this one ends, the other would have ended, too.
    later = await client.get("/events", after_sequence=0, wait=4)
    await logged(client, 1, request_id=later.headers["X-Request-Id"])
    assert (await client.get("/requests", request_id=request_id)).json()["data"] == []


async def test_requests_page_backwards_in_time_and_by_status(system: System) -> None:
    """Newest first with a cursor; another client's cursor is refused."""
    client = system.partner(await system.key(client="Pages"))
    for _ in range(3):
        await client.get("/studio")
        await client.get("/unknown")
    rows = await logged(client, 3, status_class="4xx")
    assert [(row["status"], row["route"]) for row in rows] == [(404, None)] * 3
    first = (await client.get("/requests", status_class="4xx", limit=2)).json()
    rest = await client.get("/requests", status_class="4xx", limit=2, cursor=first["next_cursor"])
    assert [row["id"] for row in first["data"] + rest.json()["data"]] == [row["id"] for row in rows]
    assert sorted((row["id"] for row in rows), reverse=True) == [row["id"] for row in rows]
    stranger = system.partner(await system.key(client="Strange"))
    assert (await stranger.get("/requests", cursor=rows[0]["id"])).code == "invalid_cursor"
    assert (await client.get("/requests", status_class="6xx")).status == 422


async def test_requests_are_found_by_route_error_and_source(system: System) -> None:
    """The filters combine. A console session's requests are those of its client, and told apart."""
    key = await system.key(client="Filters")
    client = system.partner(key)
    page = with_session(system, await session_of(system, key))
    assert (await page.get("/studio")).status == 200
    for path in ("/studio", f"/leads/{new_id()}", f"/leads/{new_id()}", f"/forms/{new_id()}"):
        await client.get(path)
    await logged(client, 6)

    async def found(**query: Any) -> list[tuple[str, str | None]]:
        return [(row["source"], row["route"]) for row in await logged(client, 1, **query)]

    assert await found(source="console") == [("console", "/studio")]
    assert await found(route="/studio") == [("key", "/studio"), ("console", "/studio")]
    assert await found(route="/studio", source="key") == [("key", "/studio")]
    assert await found(error_code="not_found", route="/leads/{lead_id}") == [("key", "/leads/{lead_id}")] * 2
    assert len(await found(error_code="not_found", status_class="4xx")) == 3
    assert (await client.get("/requests", source="elsewhere")).status == 422


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


async def test_a_batch_that_failed_is_written_later(db: Database, database_url: str) -> None:
    """If the database is unavailable for a moment, nothing that was queued is lost."""
    async with opened_database(database_url, "gateway") as away:
        log = RequestLog(away)
    log.add(a_row(200))
    with pytest.raises(Exception, match=r".*"):
        await log.write()
    log._db = db
    await log.write()
    assert await rows_in(db) == 1


async def test_what_is_queued_is_written_when_the_gateway_stops(db: Database) -> None:
    """An unavailable database does not delay the shutdown."""
    log = RequestLog(db)
    log.add(a_row(200))
    await log.write_last()
    assert await rows_in(db) == 1
    log.add(a_row(200))
    await db.close()
    await log.write_last()


async def test_requests_are_kept_for_seven_days(db: Database) -> None:
    """Older ones are deleted, a batch at a time."""
    log = RequestLog(db)
    async with db.connection() as conn:
        seconds = float(await conn.fetchval("SELECT extract(epoch FROM clock_timestamp())::float8"))
    log.add(a_row(200, seconds - 6.9 * 86400))
    log.add(a_row(200, seconds - 7.1 * 86400))
    await log.write()
    async with db.connection() as conn:
        assert not await delete_old_rows(conn)
    assert await rows_in(db) == 1


def test_the_code_is_read_off_an_error_and_cannot_be_feigned() -> None:
    """From a plain error and from a 422; a value with such text in it is escaped."""
    assert error_code_in(b'{"error":{"type":"conflict","code":"class_full","message":""}}') == "class_full"
    problems = b'{"detail":[{"msg":"\\"error\\":{\\"type\\":\\"a\\",\\"code\\":\\"b\\""}],'
    assert (
        error_code_in(problems + b'"error":{"type":"x","code":"validation_failed"}}') == "validation_failed"
    )
    assert error_code_in(b"not json") is None


async def usage(system: System, **query: Any) -> dict[str, dict[str, Any]]:
    listed = (await system.operator.get("/usage", studio=system.studio_id, **query)).json()
    return {row["id"]: row for row in listed["data"]}


async def counted(system: System, key_id: str, requests: int) -> dict[str, Any]:
    """The log is written once a second."""
    async with asyncio.timeout(60):
        while (row := (await usage(system))[key_id])["requests"] < requests or not row["last_used_at"]:
            await asyncio.sleep(0.05)
    return row


async def test_requests_errors_and_last_use_are_counted_for_each_key(system: System) -> None:
    """Two keys of one client are counted separately; a key that was never used is shown with zeros."""
    busy = await system.issue(client="Booking site")
    quiet = await system.issue(client="Booking site")
    partner = system.partner(busy["key"])
    for _ in range(3):
        assert (await partner.get("/studio")).status == 200
    assert (await partner.get(f"/classes/{new_id()}")).status == 404
    row = await counted(system, busy["id"], 4)
    assert (row["requests"], row["errors"]) == (4, 1)
    assert (row["client_name"], row["prefix"]) == ("Booking site", busy["prefix"])
    unused = (await usage(system))[quiet["id"]]
    assert (unused["requests"], unused["errors"], unused["last_used_at"]) == (0, 0, None)


async def test_batches_add_up_and_the_window_ends_them(system: System) -> None:
    """A second batch is added to the first; from tomorrow on nothing was counted."""
    issued = await system.issue()
    partner = system.partner(issued["key"])
    await partner.get("/studio")
    await counted(system, issued["id"], 1)
    await asyncio.gather(*(partner.get("/studio") for _ in range(5)))
    assert (await counted(system, issued["id"], 6))["requests"] == 6
    later = await usage(system, since="2999-01-01T00:00:00Z")
    assert later[issued["id"]]["requests"] == 0


async def test_usage_goes_page_by_page_and_stays_in_its_studio(system: System) -> None:
    """A cursor of another studio's list is refused, and so is a studio that does not exist."""
    issued = [await system.issue() for _ in range(3)]
    first = (await system.operator.get("/usage", studio=system.studio_id, limit=2)).json()
    rest = await usage(system, limit=2, cursor=first["next_cursor"])
    shown = [*(row["id"] for row in first["data"]), *rest]
    assert shown == [key["id"] for key in issued]
    other = await system.new_studio()
    refused = await system.operator.get("/usage", studio=other, cursor=first["next_cursor"])
    assert refused.code == "invalid_cursor"
    assert (await system.operator.get("/usage", studio="nobody")).status == 404


async def test_studioctl_shows_usage_as_a_table_and_as_json(system: System) -> None:
    """The prefix stays whole at any width."""
    issued = await system.issue(client="Partner Inc")
    listed = (await studioctl(system, "usage", "--studio", system.studio_id, "--since", "24h")).json()
    assert [row["id"] for row in listed["data"]] == [issued["id"]]
    for columns in (120, 40):
        text, code = await screen(system, "usage", "--studio", system.studio_id, columns=columns)
        assert code == 0
        assert issued["prefix"] in text and "Partner Inc" in text and "errors" in text


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
    body = {"name": "m", "role": "manager"}
    token = (await system.operator.post(f"/studios/{other}/staff-tokens", body)).json()["token"]
    assert (await system.staff(token).get("/requests", request_id=request_id)).json()["data"] == []


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


async def test_counts_older_than_seven_days_are_deleted(database_url: str) -> None:
    """And the status of over an hour ago."""
    ids = [new_id(), new_id()]
    async with opened_database(database_url, "gateway") as db, db.connection() as conn:
        for days in (1, 8):  # or 10 and 80 minutes
            await conn.execute(
                "INSERT INTO request_minutes "
                "SELECT $1, $2, 'key', now() - make_interval(days => $3), 0, 1, 0, 0, 0",
                *ids,
                days,
            )
            await conn.execute(
                "INSERT INTO status_history VALUES (now() - make_interval(mins => $1), '{}')", days * 10
            )
        await delete_old_rows(conn)
        assert await conn.fetchval("SELECT count(*) FROM request_minutes") == 1
        assert await conn.fetchval("SELECT count(*) FROM status_history WHERE sample = '{}'") == 1


async def test_the_server_keeps_an_hour_of_its_status(system: System) -> None:
    """The first sample is there within seconds of a start; only operators see it."""
    page = await system.operator.until("/status/history", lambda page: page["data"])
    sample = page["data"][-1]
    assert sample["services"]["bookings"] in ("ready", "degraded")
    assert {"outbox_waiting", "pending_deliveries", "requests", "p95_ms"} <= set(sample)
    body = {"name": "m", "role": "manager"}
    token = (await system.operator.post(f"/studios/{system.studio_id}/staff-tokens", body)).json()["token"]
    assert (await system.staff(token).get("/status/history")).status == 403
