"""Waits of one key for the same page that begin together are one request to the event log."""

import asyncio

from services.gateway.shared_waits import SharedWaits
from services.gateway.upstream import UpstreamResponse
from tests.harness.eventually import until


class EventLog:
    """Answers when told to, and counts requests and what is given up."""

    def __init__(self) -> None:
        self.requests = self.given_up = 0
        self.page: asyncio.Future[UpstreamResponse] = asyncio.get_running_loop().create_future()

    async def forward(self) -> UpstreamResponse:
        self.requests += 1
        try:
            return await asyncio.shield(self.page)
        except asyncio.CancelledError:
            self.given_up += 1
            raise

    def answer(self, status: int) -> None:
        self.page.set_result(UpstreamResponse(status, [(b"etag", b"1")], b"page"))


async def test_those_that_begin_together_are_one_request() -> None:
    """Each has headers of its own to add to. Another page, and a later wait, are other requests."""
    waits, log = SharedWaits(), EventLog()
    batch = [asyncio.create_task(waits.wait("page", 25, log.forward)) for _ in range(10)]
    await until(lambda: log.requests == 1)
    other = asyncio.create_task(waits.wait("another page", 25, log.forward))
    await until(lambda: log.requests == 2)
    await asyncio.sleep(0.3)
    later = asyncio.create_task(waits.wait("page", 25, log.forward))
    await until(lambda: log.requests == 3)
    log.answer(200)
    responses = await asyncio.gather(*batch, other, later)
    assert {(one.status, one.body) for one in responses} == {(200, b"page")} and log.requests == 3
    responses[0].headers.append((b"x-request-id", b"1"))
    assert all(one.headers == [(b"etag", b"1")] for one in responses[1:])
    await waits.wait("page", 25, log.forward)
    assert log.requests == 4, "what was answered is not answered with again"


async def test_it_is_given_up_with_the_last_one_that_waits() -> None:
    """Not when the first one hangs up. Whoever comes then begins anew."""
    waits, log = SharedWaits(), EventLog()
    first, second = (asyncio.create_task(waits.wait("page", 25, log.forward)) for _ in range(2))
    await until(lambda: log.requests == 1)
    first.cancel()
    await asyncio.wait([first])
    assert log.given_up == 0 and not second.done()
    second.cancel()
    third = asyncio.create_task(waits.wait("page", 25, log.forward))
    await until(lambda: log.given_up == 1 and log.requests == 2)
    log.answer(200)
    assert (await third).body == b"page"


async def test_an_error_is_for_one_request_only() -> None:
    """It names the request, so each gets its own."""
    waits, log = SharedWaits(), EventLog()
    batch = [asyncio.create_task(waits.wait("page", 25, log.forward)) for _ in range(3)]
    await until(lambda: log.requests == 1)
    log.answer(410)
    assert [one.status for one in await asyncio.gather(*batch)] == [410, 410, 410]
    assert log.requests == 3
