"""The request log: a client's own requests, newest first, written outside the hot path."""

from typing import Any

import pytest

from services.gateway import request_log
from services.gateway.request_log import BATCH, LIMITED_SHARE, MAX_REFUSED, RequestLog, error_code_in
from services.gateway.store import requests
from services.gateway.store.old_rows import delete_old_rows
from services.gateway.wire.request import RequestsQuery
from shared.http.caller import Caller
from shared.observability.metrics import REQUEST_LOG_LEFT_OUT
from shared.wire import new_id
from tests.harness.database_layout import open_database
from tests.harness.eventually import eventually
from tests.harness.http import Client
from tests.harness.system import System


async def logged(client: Client, count: int, **query: Any) -> list[dict[str, Any]]:
    async def enough() -> list[dict[str, Any]]:
        rows = (await client.get("/requests", **query)).json()["data"]
        return rows if len(rows) >= count else []

    found: list[dict[str, Any]] = await eventually(enough)
    return found


async def test_a_client_sees_its_own_requests_and_no_others(system: System) -> None:
    """Those of all its keys, but not those of another client or another studio."""
    issued = await system.issue(client="Mine")
    second, other = await system.issue(client="Mine"), await system.issue(client="Other")
    client, request_id = system.partner(issued["key"]), f"mine-{new_id()}"
    await system.partner(other["key"]).send("GET", "/studio", headers={"X-Request-Id": request_id})
    await system.partner(second["key"]).send("GET", "/studio", headers={"X-Request-Id": request_id})
    await client.send("GET", f"/classes/{new_id()}", headers={"X-Request-Id": request_id})
    refused, good = await logged(client, 2, request_id=request_id)
    assert set(good) == {
        "id",
        "object",
        "request_id",
        "at",
        "method",
        "route",
        "status",
        "error_code",
        "duration_ms",
        "key_id",
    }
    assert (good["object"], good["method"], good["route"], good["status"], good["error_code"]) == (
        "request",
        "GET",
        "/studio",
        200,
        None,
    )
    assert (good["key_id"], good["request_id"]) == (second["id"], request_id)
    assert (refused["route"], refused["status"], refused["error_code"]) == (
        "/classes/{class_id}",
        404,
        "not_found",
    )
    rows = await logged(system.partner(other["key"]), 1, request_id=request_id)
    assert [row["key_id"] for row in rows] == [other["id"]]


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


def a_row(status: int, at: float = 1_700_000_000.0, caller: Caller | None = None) -> request_log.Row:
    caller = caller or Caller(studio_id=new_id(), client_id=new_id(), key_id=new_id())
    return (at, caller, "GET", "/studio", status, None, 0.001, new_id())


async def test_under_a_storm_refused_requests_stay_and_the_rest_is_counted(database_url: str) -> None:
    """At ten times the write limit memory is bounded, refused requests are written first, all are counted."""
    db = await open_database(database_url, "gateway", size=1)
    caller = Caller(studio_id=new_id(), client_id=new_id(), key_id=new_id())
    log, before = RequestLog(db), REQUEST_LOG_LEFT_OUT._value.get()
    try:
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
    finally:
        await db.close()


async def test_a_client_that_ignores_its_limit_pushes_nobody_out_of_the_log(database_url: str) -> None:
    """All of another client's requests are listed; of the 429s a sample, and the key's usage counts them."""
    db = await open_database(database_url, "gateway", size=1)
    storm, other = (Caller(studio_id=new_id(), client_id=new_id(), key_id=new_id()) for _ in range(2))
    log = RequestLog(db)
    try:
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
    finally:
        await db.close()


async def test_a_batch_that_failed_is_written_later(database_url: str) -> None:
    """If the database is unavailable for a moment, nothing that was queued is lost."""
    db = await open_database(database_url, "gateway", size=1)
    log = RequestLog(db)
    log.add(a_row(200))
    await db.close()
    with pytest.raises(Exception, match=r".*"):
        await log.write()
    again = await open_database(database_url, "gateway", size=1)
    try:
        log._db = again
        await log.write()
        async with again.connection() as conn:
            assert await conn.fetchval("SELECT count(*) FROM requests") == 1
    finally:
        await again.close()


async def test_what_is_queued_is_written_when_the_gateway_stops(database_url: str) -> None:
    """An unavailable database does not delay the shutdown."""
    db = await open_database(database_url, "gateway", size=1)
    log = RequestLog(db)
    log.add(a_row(200))
    await log.write_last()
    async with db.connection() as conn:
        assert await conn.fetchval("SELECT count(*) FROM requests") == 1
    log.add(a_row(200))
    await db.close()
    await log.write_last()


async def test_requests_are_kept_for_seven_days(database_url: str) -> None:
    """Older ones are deleted, a batch at a time."""
    db = await open_database(database_url, "gateway", size=1)
    log = RequestLog(db)
    try:
        async with db.connection() as conn:
            seconds = float(await conn.fetchval("SELECT extract(epoch FROM clock_timestamp())::float8"))
        log.add(a_row(200, seconds - 6.9 * 86400))
        log.add(a_row(200, seconds - 7.1 * 86400))
        await log.write()
        async with db.connection() as conn:
            assert not await delete_old_rows(conn)
            assert await conn.fetchval("SELECT count(*) FROM requests") == 1
    finally:
        await db.close()


def test_the_code_is_read_off_an_error_and_cannot_be_feigned() -> None:
    """From a plain error and from a 422; a value with such text in it is escaped."""
    assert error_code_in(b'{"error":{"type":"conflict","code":"class_full","message":""}}') == "class_full"
    problems = b'{"detail":[{"msg":"\\"error\\":{\\"type\\":\\"a\\",\\"code\\":\\"b\\""}],'
    assert (
        error_code_in(problems + b'"error":{"type":"x","code":"validation_failed"}}') == "validation_failed"
    )
    assert error_code_in(b"not json") is None
