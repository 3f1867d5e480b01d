"""Pages that stay open for an hour: what they keep, and what they ask.

One system is quiet: the requests of its pages are counted. In the other something happens every few seconds,
and an endpoint fails. Its lists are full before the first measurement: what grows later is never forgotten.
"""

import asyncio
import os
import time
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from itertools import count
from pathlib import Path

import pytest
from msgspec import Struct, field
from playwright.async_api import Browser, CDPSession, Request

from shared.settings import SERVICES
from shared.wire import new_id
from tests.harness.browser import SHARED_LOOP, Tab, new_tab
from tests.harness.console_pages import MANAGER_PAGES, PARTNER_PAGES, open_partner_console, sign_in
from tests.harness.databases import Templates
from tests.harness.eventually import in_background
from tests.harness.front_desk import FrontDesk, front_desk
from tests.harness.http import Client
from tests.harness.receiver import answering, receiving
from tests.harness.system import embedded_system, new_studio_in

pytestmark = SHARED_LOOP

MINUTES = float(os.environ.get("STUDIO_CONSOLE_MINUTES", "60"))
FIRST = MINUTES / 6  # minute 10 of an hour
GROWTH_MB = 1.0
REQUESTS_A_MINUTE = 3.0
SYSTEM_PAGES = ("system", "studios", "audit")
BUSY_PAGES = ("home", "requests", "events", "webhooks", "today", "deliveries", "system")
# More than a list shows, and what a page remembers besides.
BEFORE, AT_ONCE = 1_200, 8
EVERY = 5.0


class Opened(Struct, eq=False):
    """A page with its requests, and its heap after each collection."""

    name: str
    tab: Tab
    session: CDPSession
    requests: list[tuple[float, str]] = field(default_factory=list)
    heaps: list[float] = field(default_factory=list)

    def listen(self) -> None:
        # Playwright marks the function, which a method of a struct does not allow.
        def heard(request: Request) -> None:
            self.requests.append((time.monotonic(), request.url))

        self.tab.page.context.on("request", heard)

    async def weigh(self) -> None:
        await self.session.send("HeapProfiler.collectGarbage")
        self.heaps.append(float((await self.session.send("Runtime.getHeapUsage"))["usedSize"]) / 1e6)

    def requests_since(self, start: float) -> tuple[float, int, dict[str, int]]:
        """Requests a minute, those of the busiest minute, and which they were."""
        heard = [(at - start, url) for at, url in self.requests if at >= start]
        minutes = (time.monotonic() - start) / 60
        busiest = max(Counter(int(at / 60) for at, _ in heard).values(), default=0)
        paths = Counter(url.partition("?")[0].rpartition("/v1")[2] for _, url in heard)
        return len(heard) / minutes, busiest, dict(paths)


class Side(Struct):
    """One of the two systems."""

    desk: FrontDesk
    partner: Client
    key: str
    booking_id: str
    pages: list[Opened] = field(default_factory=list)

    async def open(self, stack: AsyncExitStack, browser: Browser, *names: str) -> None:
        for name in names:
            tab = await stack.enter_async_context(new_tab(browser))
            if name in PARTNER_PAGES:
                # A session ends after an hour, unless it is to last longer.
                await open_partner_console(tab, self.desk.system, self.key, expires_in=7_200)
            else:
                token = await self.desk.token("manager")
                if name in SYSTEM_PAGES:
                    token = self.desk.system.running.operator_token
                await sign_in(tab, self.desk.system.running.operator_url, token)
            await tab.show(name)
            opened = Opened(name, tab, await tab.page.context.new_cdp_session(tab.page))
            opened.listen()
            self.pages.append(opened)

    async def add_member(self) -> None:
        body = {"email": f"{new_id()}@example.com", "first_name": "Ada", "last_name": "Byron"}
        await self.partner.create("/members", body)

    async def stay_busy(self) -> None:
        for number in count():
            await self.add_member()
            verb = "undo-check-in" if number % 2 else "check-in"
            await self.desk.api.post(f"/studios/{self.desk.studio_id}/bookings/{self.booking_id}/{verb}")
            await asyncio.sleep(EVERY)


@asynccontextmanager
async def side(templates: Templates, folder: Path) -> AsyncIterator[Side]:
    async with AsyncExitStack() as stack:
        database_url = await stack.enter_async_context(templates.of(SERVICES).copy())
        running = stack.enter_context(embedded_system(folder, database_url))
        system = await stack.enter_async_context(new_studio_in(running))
        desk = await front_desk(system, minutes=30)
        issued = await system.issue(studio=desk.studio_id, client="app")
        await system.limit(issued)
        partner = system.partner(issued["key"])
        receiver = await stack.enter_async_context(receiving())
        await partner.create("/webhook-endpoints", {"url": receiver.url, "description": "Orders"})
        [booking_id] = await desk.book("Ada King")
        await receiver.until_count(1)
        yield Side(desk, partner, issued["key"], booking_id)


@pytest.mark.timeout(7200)
async def test_pages_that_stay_open_neither_grow_nor_ask_much(
    templates: Templates, browser: Browser, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """From minute 10 to 60: under 1 MB more after a collection, and at most 3 requests a minute while nothing
    happens."""
    async with AsyncExitStack() as stack:
        folders = [tmp_path_factory.mktemp(name) for name in ("quiet", "busy")]
        quiet = await stack.enter_async_context(side(templates, folders[0]))
        busy = await stack.enter_async_context(side(templates, folders[1]))
        failing = await stack.enter_async_context(receiving(keep=False))
        failing.response = answering(500, text="no database")
        await busy.partner.create("/webhook-endpoints", {"url": failing.url, "description": "legacy CRM"})
        await busy.open(stack, browser, *BUSY_PAGES)
        for _ in range(BEFORE // AT_ONCE):
            await asyncio.gather(*(busy.add_member() for _ in range(AT_ONCE)))
        await quiet.open(stack, browser, *PARTNER_PAGES, *MANAGER_PAGES, *SYSTEM_PAGES)
        pages = (*quiet.pages, *busy.pages)
        started = time.monotonic()
        async with in_background(busy.stay_busy()):
            for step in range(1, 7):
                await asyncio.sleep(started + step * FIRST * 60 - time.monotonic())
                for one in pages:
                    await one.weigh()
                print(f"{step} of 6: " + ", ".join(f"{one.heaps[-1]:.2f}" for one in pages))
                if step == 1:
                    counted_from = time.monotonic()
        print(f"{MINUTES:.0f} minutes; MB after a collection at each sixth of them")
        for kind, one in [("quiet", one) for one in quiet.pages] + [("busy", one) for one in busy.pages]:
            rate, busiest, paths = one.requests_since(counted_from)
            heaps = " ".join(f"{used:.2f}" for used in one.heaps)
            print(f"{kind} {one.name}: {heaps}; {rate:.2f} requests a minute, {busiest} at most; {paths}")
        grown = [one.name for one in pages if one.heaps[-1] - one.heaps[0] >= GROWTH_MB]
        assert grown == []
        rates = {one.name: one.requests_since(counted_from)[0] for one in quiet.pages}
        assert {name: rate for name, rate in rates.items() if rate > REQUESTS_A_MINUTE} == {}
