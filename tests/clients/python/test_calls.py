"""What the Python client does with answers, good and bad, blocking and with asyncio."""

import asyncio
import pickle
import sys
import time
from collections.abc import AsyncIterator, Callable
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from itertools import pairwise
from types import SimpleNamespace
from typing import Any

import pytest
from aiohttp import web

import studio_partner
from studio_partner import (
    ApiError,
    AsyncClient,
    ClassFullError,
    Client,
    ConnectionFailed,
    RateLimitedError,
    ResyncNeeded,
    SecretLost,
    ServiceUnavailableError,
    StudioPartnerError,
    ValidationFailedError,
    _exchange,
)
from tests.clients.python.driver import awaited, called
from tests.clients.python.scripted_server import CUT, Scripted, refusal, scripted_server, serving
from tests.clients.webhook_cases import EXAMPLES

BOOKING = EXAMPLES["booking.created"]["data"]["object"]
ENDPOINT = EXAMPLES["webhook_endpoint.disabled"]["data"]["object"]
PAGE = {"object": "list", "data": [], "has_more": False, "next_cursor": None}
Call = Callable[..., Any]


@pytest.fixture
async def server() -> AsyncIterator[Scripted]:
    async with scripted_server() as scripted:
        yield scripted


@pytest.fixture(autouse=True)
def _short_delays(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_exchange, "FIRST_DELAY", 0.01)


@pytest.fixture(params=["blocking", "asyncio"])
def call(request: pytest.FixtureRequest, server: Scripted) -> Call:
    """`await call(name, *path, settings, **fields)` with a client of its own; iterators to their end."""

    async def run(name: str, *path: str, settings: dict[str, Any] | None = None, **fields: Any) -> Any:
        given = {"key": "spk_test_k", "base_url": server.url} | (settings or {})
        if request.param == "blocking":
            with Client(**given) as client:
                return await asyncio.to_thread(called, client, name, path, fields)
        async with AsyncClient(**given) as client_with_asyncio:
            return await awaited(client_with_asyncio, name, path, fields)

    return run


async def test_a_call_sends_what_the_api_wants(server: Scripted, call: Call) -> None:
    """Key, versions, an Idempotency-Key of its own; a field that is not given is not sent, null is."""
    server.then(200, {"id": "l", "object": "lead", "created": False})
    await call("update_lead", "a/b", phone=None, status="contacted")
    [request] = server.requests
    assert (request.method, request.target) == ("PATCH", "/partner/v1/leads/a%2Fb")
    assert request.body == b'{"phone":null,"status":"contacted"}'
    assert request.headers["X-Service-Key"] == "spk_test_k"
    assert request.headers["X-API-Version"] == studio_partner.API_VERSION
    assert request.headers["User-Agent"] == f"studio-partner-python/{studio_partner.__version__}"
    assert 8 <= len(request.headers["Idempotency-Key"]) <= 120
    await call("update_lead", "a", status="contacted")
    assert server.requests[1].headers["Idempotency-Key"] != request.headers["Idempotency-Key"]
    await call("update_lead", "a", status="contacted", idempotency_key="the-very-key")
    assert server.requests[2].headers["Idempotency-Key"] == "the-very-key"


async def test_arguments_may_be_pythons_own_values(server: Scripted, call: Call) -> None:
    """Dates, decimals, booleans and lists, as the API writes them."""
    server.then(200, PAGE)
    at = datetime(2026, 5, 1, 8, tzinfo=UTC)
    await call("list_classes", starts_after=at, on=date(2026, 5, 1), ids=["a", "b"])
    assert server.requests[0].target.partition("?")[2] == (
        "ids=a%2Cb&starts_after=2026-05-01T08%3A00%3A00%2B00%3A00&on=2026-05-01"
    )
    await call("list_products", active=False)
    assert server.requests[1].target.endswith("/products?active=false")
    server.answers[:] = [(409, refusal("booking_not_cancellable"), {})]
    with pytest.raises(ApiError):
        await call("cancel_booking", "b", max_late_fee=Decimal("5.00"), allow_credit_forfeit=True)
    assert server.requests[2].target.endswith("?max_late_fee=5.00&allow_credit_forfeit=true")
    with pytest.raises(ApiError):
        await call("cancel_booking", "b", max_late_fee=Decimal("1E+2"))
    with pytest.raises(ApiError):
        await call("reschedule_booking", "b", class_id="c", max_late_fee=Decimal("1E+2"))
    assert server.requests[3].target.endswith("?max_late_fee=100")
    assert server.requests[4].body == b'{"class_id":"c","max_late_fee":"100"}'


async def test_a_write_that_still_runs_or_is_unreadable_is_tried_again(server: Scripted, call: Call) -> None:
    """Under the same key; test_faults.py has everything else that leaves it undone or unknown."""
    server.then(409, refusal("idempotency_in_progress"), Retry_After="0")
    server.then(200, "not compressed", Content_Encoding="gzip").then(201, BOOKING)
    made = await call("create_booking", class_id="c", member_id="m")
    assert (made.id, made.created_at) == (BOOKING["id"], datetime(2026, 6, 1, 15, tzinfo=UTC))
    assert len(server.requests) == 3
    assert len({request.headers["Idempotency-Key"] for request in server.requests}) == 1
    assert len({request.body for request in server.requests}) == 1


async def test_reads_and_previews_are_tried_again_without_a_key(server: Scripted, call: Call) -> None:
    server.then(CUT).then(
        200, {"object": "booking_preview", "outcome": "confirmed", "waitlist_position": None}
    )
    server.answers[-1][1].update(code=None, checks=[])
    assert (await call("preview_booking", class_id="c", member_id="m")).outcome == "confirmed"
    assert ["Idempotency-Key" in request.headers for request in server.requests] == [False, False]


async def test_the_attempts_come_to_an_end(server: Scripted, call: Call) -> None:
    """The last answer is raised, with the key that repeats the write by hand."""
    server.then(503, refusal("service_unavailable", type="api_error"), Retry_After="0")
    with pytest.raises(ServiceUnavailableError) as refused:
        await call("create_booking", class_id="c", member_id="m", settings={"retries": 2})
    assert len(server.requests) == 3
    assert refused.value.idempotency_key == server.requests[0].headers["Idempotency-Key"]
    server.requests.clear()
    server.answers[:] = [(CUT, None, {})]
    with pytest.raises(ConnectionFailed) as failed:
        await call("create_booking", class_id="c", member_id="m", settings={"retries": 0})
    (request,) = server.requests
    assert failed.value.idempotency_key == request.headers["Idempotency-Key"]


async def test_retry_after_is_waited_for_unless_it_is_very_long(server: Scripted, call: Call) -> None:
    server.then(429, refusal("rate_limited"), Retry_After="1").then(201, BOOKING)
    began = time.monotonic()
    await call("create_booking", class_id="c", member_id="m")
    assert time.monotonic() - began >= 1
    server.answers[:] = [(429, refusal("rate_limited"), {"Retry-After": "3600"})]
    with pytest.raises(RateLimitedError):
        await call("create_booking", class_id="c", member_id="m")
    assert len(server.requests) == 3


@pytest.mark.parametrize("status", [307, 400, 401, 403, 404, 409, 410, 422, 500])
async def test_a_refusal_or_redirect_is_the_end(server: Scripted, call: Call, status: int) -> None:
    """To follow a redirect would carry the key elsewhere."""
    server.then(status, refusal("made_up_code"), Location=server.url + "/elsewhere")
    for count, name, fields in ((1, "get_studio", {}), (2, "create_lead", {"email": "a@b.example"})):
        with pytest.raises(ApiError) as refused:
            await call(name, **fields)
        assert (type(refused.value), refused.value.code) == (ApiError, "made_up_code")
        assert len(server.requests) == count


async def test_an_error_has_its_own_class_and_all_that_was_told(server: Scripted, call: Call) -> None:
    told = refusal("class_full", param="class_id", details={"capacity": 12})
    server.then(409, told, X_Request_Id="r-2")
    with pytest.raises(ClassFullError) as refused:
        await call("create_booking", class_id="c", member_id="m")
    error = refused.value
    assert (error.status, error.code, error.type, error.message) == (409, "class_full", "conflict", "No.")
    assert (error.param, error.details, error.request_id) == ("class_id", {"capacity": 12}, "r-2")
    assert "class_full" in str(error)
    problems = [{"loc": ["body", "email"], "msg": "…", "type": "missing"}]
    server.answers[:] = [(422, {"detail": problems, **refusal("validation_failed")}, {})]
    with pytest.raises(ValidationFailedError) as invalid:
        await call("create_lead", email="")
    assert invalid.value.problems == tuple(problems)


NOT_OURS = ["<html>Bad gateway</html>", "[]", '{"error": "no"}', '{"error": {}}', '{"detail": "Not Found"}']
LATIN = '{"error": "d\xe9sol\xe9"}'.encode("latin-1")


@pytest.mark.parametrize("body", [*NOT_OURS, '{"detail": 5}', LATIN])
async def test_what_is_no_answer_of_the_api_is_still_an_api_error(
    server: Scripted, call: Call, body: str | bytes
) -> None:
    """Something between may answer: a proxy, a captive portal."""
    server.then(502, body)
    with pytest.raises(ApiError) as refused:
        await call("get_studio")
    assert (refused.value.status, refused.value.code) == (502, "http_502")
    assert refused.value.problems == ()
    server.answers[:] = [(200, body, {})]
    with pytest.raises(ApiError) as unreadable:
        await call("create_booking", class_id="c", member_id="m")
    assert unreadable.value.code == "unreadable_response"
    assert unreadable.value.idempotency_key == server.requests[-1].headers["Idempotency-Key"]


@pytest.mark.parametrize("name", ["", ".", ".."])
async def test_what_is_no_id_is_not_sent_to_another_route(server: Scripted, call: Call, name: str) -> None:
    with pytest.raises(ValueError, match="not an id"):
        await call("cancel_booking", name)
    assert server.requests == []


async def test_a_lost_secret_is_said(server: Scripted, call: Call) -> None:
    """A replay cannot show it again; what was made is told, so that it can be rotated."""
    server.then(201, ENDPOINT | {"secret": "whsec_1"}).then(CUT)
    server.then(201, ENDPOINT | {"secret": None}, Idempotent_Replayed="true")
    assert (await call("create_webhook_endpoint", url="https://x.example")).secret == "whsec_1"
    with pytest.raises(SecretLost) as lost:
        await call("create_webhook_endpoint", url="https://x.example")
    assert lost.value.resource.id == ENDPOINT["id"]


async def test_iterating_asks_for_page_after_page(server: Scripted, call: Call) -> None:
    """With the filters of the first one."""
    first, second, third = (BOOKING | {"id": number} for number in "123")
    page = PAGE | {"data": [first, second], "has_more": True, "next_cursor": "2"}
    server.then(200, page).then(200, PAGE | {"data": [third]})
    rows = await call("iter_bookings", class_id="c", page_size=2)
    assert [row.id for row in rows] == ["1", "2", "3"]
    assert [request.target.partition("?")[2] for request in server.requests] == [
        "limit=2&class_id=c",
        "limit=2&class_id=c&cursor=2",
    ]
    # Without a cursor it would begin again with the first page, for ever.
    server.answers[:] = [(200, page | {"next_cursor": None}, {}), (404, None, {})]
    assert len(await call("iter_bookings")) == 2


async def test_an_answer_is_waited_for_as_long_as_the_timeout_says() -> None:
    """`timeout` is for an attempt. Waiting for events adds to it."""

    async def slow(request: Any) -> Any:
        await asyncio.sleep(0.6)
        return web.json_response(PAGE | {"latest_sequence": 0, "oldest_sequence": 1})

    async with (
        serving(slow) as url,
        AsyncClient("k", base_url=url, timeout=0.2, retries=0) as client,
    ):
        with pytest.raises(ConnectionFailed):
            await client.list_events()
        assert (await client.list_events(after_sequence=0, wait=1)).latest_sequence == 0


async def test_a_cache_asks_whether_something_has_changed(server: Scripted) -> None:
    """With `cache` a 304 gives what is held; without it nothing is asked."""
    server.then(200, BOOKING, ETag='"1"').then(304, ETag='"1"').then(200, BOOKING | {"id": "n"}, ETag='"2"')
    async with AsyncClient("k", base_url=server.url, cache=True) as client:
        found = [(await client.get_booking("b")).id for _ in range(3)]
    assert found == [BOOKING["id"], BOOKING["id"], "n"]
    tags = [request.headers.get("If-None-Match") for request in server.requests]
    assert tags == [None, '"1"', '"1"']
    with Client("k", base_url=server.url) as plain:
        for _ in range(2):
            await asyncio.to_thread(plain.get_booking, "b")
    assert "If-None-Match" not in server.requests[-1].headers


def test_the_cache_forgets_what_was_used_longest_ago(monkeypatch: pytest.MonkeyPatch) -> None:
    """So that it does not take more memory than it may, however large the responses are."""
    monkeypatch.setattr(_exchange, "CACHED_BYTES", 20)
    cache = _exchange.Cache()
    for name in ("a", "b"):
        cache.put(name, name, b"12345678")
    cache.get("a")
    cache.put("c", "c", b"12345678")
    cache.put("c", "d", b"12345678")
    assert [cache.get(name) is not None for name in ("a", "b", "c")] == [True, False, True]
    cache.put("c", "e", b"1234567890123456789012")
    assert [cache.get(name) for name in ("a", "c")] == [None, None]


@pytest.mark.parametrize("key", ["spk_live_secret\n", "spk_live_ secret", "spk_live_s\u00e9cret", ""])
def test_a_key_is_never_shown_and_refused_if_no_header_can_hold_it(key: str) -> None:
    """Read from a file with its line break, for example. The HTTP library's error would show it."""
    for kind in (Client, AsyncClient):
        with pytest.raises(ValueError, match="key is empty") as refused:
            kind(key, base_url="http://127.0.0.1:9")
        assert "cret" not in str(refused.value)
    with Client("spk_live_secret", base_url="http://127.0.0.1:9") as client:
        assert "secret" not in repr(client)


def test_a_live_key_is_refused_in_a_browsers_page(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pyodide runs Python there, and in workers of servers, too."""
    monkeypatch.setattr(sys, "platform", "emscripten")
    pages = {
        "page": SimpleNamespace(document=1, navigator=SimpleNamespace(userAgent="Mozilla/5.0")),
        "worker of a page": SimpleNamespace(navigator=SimpleNamespace(userAgent="Mozilla/5.0")),
    }
    for page in pages.values():
        monkeypatch.setitem(sys.modules, "js", page)
        with pytest.raises(ValueError, match="live key"):
            Client("spk_live_a_b", base_url="http://127.0.0.1:9")
        Client("spk_test_a_b", base_url="http://127.0.0.1:9").close()
    edge = SimpleNamespace(navigator=SimpleNamespace(userAgent="Cloudflare-Workers"))
    monkeypatch.setitem(sys.modules, "js", edge)
    Client("spk_live_a_b", base_url="http://127.0.0.1:9").close()


@pytest.mark.parametrize(
    "error",
    [
        ClassFullError(409, "class_full", "conflict", "No.", None, {"capacity": 1}, "r", idempotency_key="k"),
        ConnectionFailed("Cut.", "k"),
        ResyncNeeded(3, "jump"),
        SecretLost({"id": "e"}),
    ],
    ids=lambda error: type(error).__name__,
)
def test_an_error_can_be_handed_on_to_another_process(error: StudioPartnerError) -> None:
    """A pool of processes, or a queue of tasks, pickles what was raised."""
    copy = pickle.loads(pickle.dumps(error))
    assert (type(copy), str(copy), vars(copy)) == (type(error), str(error), vars(error))


def test_delays_grow_and_differ() -> None:
    """Twice as long each time up to a limit, and not the same for all."""
    drawn = [[_exchange.backoff(attempt) for _ in range(50)] for attempt in (1, 2, 3, 20)]
    assert all(max(one) < min(two) * 2.1 for one, two in pairwise(drawn))
    assert max(drawn[-1]) <= _exchange.LONGEST_DELAY
    assert all(len(set(one)) > 40 for one in drawn)
    at = datetime.now(UTC) + timedelta(seconds=5)
    busy = _exchange.Response(503, {"retry-after": at.strftime("%a, %d %b %Y %H:%M:%S GMT")}, b"")
    told = _exchange.delay_before(1, busy, 60)
    assert told is not None and told > 3
