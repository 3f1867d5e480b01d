"""docs/booking-flows.md: its program, as it is printed there: paid in time, too late or not at all."""

import asyncio
import io
import re
from collections.abc import Awaitable, Callable
from email.message import Message
from pathlib import Path
from typing import Any
from urllib import error, request

import pytest

from tests.harness import import_lines as lines
from tests.harness.databases import connected
from tests.harness.http import Client
from tests.harness.system import System

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "booking-flows.md").read_text()
PROGRAM = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)[0]
RUN_OUT = (
    "UPDATE bookings.bookings SET held_until = clock_timestamp() WHERE status = 'held' AND class_id = $1"
)


class Shop:
    """A class with one seat that costs a credit, and a customer who has none."""

    def __init__(self, system: System, partner: Client) -> None:
        self.system, self.partner = system, partner
        self.product, self.class_ = lines.product(), lines.class_(credit_cost=1)
        self.customer, self.rival = lines.member(), lines.member()
        self.refunds = 0

    async def open(self) -> None:
        await self.system.import_lines([self.product, self.class_, self.customer, self.rival])
        await self.sell(self.rival)

    async def sell(self, member: dict[str, Any]) -> None:
        body = {"member_id": member["id"], "product_id": self.product["id"]}
        path = f"/studios/{self.system.studio_id}/purchases"
        assert (await self.system.operator.post(path, body)).status == 201

    async def run_out(self) -> None:
        async with connected(self.system.running.database_url("bookings")) as conn:
            assert await conn.execute(RUN_OUT, self.class_["id"]) == "UPDATE 1"

    async def book_rival(self) -> tuple[int, str | None]:
        reply = await self.partner.book(self.class_["id"], self.rival["id"])
        return reply.status, reply.json().get("error", {}).get("code")

    async def buy(self, pay: Callable[[], Awaitable[Any]]) -> str | None:
        """The booking's status. The program is synchronous, so it runs in a thread."""
        loop = asyncio.get_running_loop()
        program: dict[str, Any] = {}
        exec(PROGRAM, program)

        async def paid() -> bool:
            return await pay() is not False

        def paying(held_until: str) -> bool:
            return asyncio.run_coroutine_threadsafe(paid(), loop).result(60)

        def refund() -> None:
            self.refunds += 1

        buy: Callable[..., Any] = program["buy"]
        booking = await asyncio.to_thread(buy, self.class_["id"], self.customer["id"], paying, refund)
        return booking["status"] if booking else None

    async def seats(self) -> tuple[int, int, int]:
        shown = (await self.partner.get(f"/classes/{self.class_['id']}")).json()
        return shown["booked_count"], shown["held_count"], shown["available_count"]


@pytest.fixture
async def shop(system: System, monkeypatch: pytest.MonkeyPatch) -> Shop:
    key = await system.key()
    monkeypatch.setenv("STUDIO_KEY", key)
    monkeypatch.setenv("STUDIO_URL", f"{system.running.partner_url}/partner/v1")
    shop = Shop(system, system.partner(key))
    await shop.open()
    return shop


@pytest.mark.parametrize(
    ("late", "rival", "paid", "told"),
    [
        (False, (409, "class_full"), True, ("confirmed", (1, 0, 0), 0)),
        (True, None, True, ("confirmed", (1, 0, 0), 0)),
        (True, (201, None), True, (None, (1, 0, 0), 1)),
        (False, None, False, (None, (0, 0, 1), 0)),
    ],
    ids=["in time", "too late and the seat is free", "too late and the seat is gone", "not paid"],
)
async def test_a_seat_is_booked_or_given_back_and_money_is_returned_once(
    shop: Shop, late: bool, rival: Any, paid: bool, told: Any
) -> None:
    """Nobody gets the seat while it is held; the credit that was bought pays for it."""

    async def pay() -> bool:
        if late:
            await shop.run_out()
        assert await shop.seats() == ((0, 0, 1) if late else (0, 1, 0))
        if rival:
            assert await shop.book_rival() == rival
        if paid:
            await shop.sell(shop.customer)
        return paid

    assert (await shop.buy(pay), await shop.seats(), shop.refunds) == told


async def test_a_confirm_that_is_still_running(shop: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
    """Asked again, the answer is that it still runs: no reason to give the money back."""
    send, confirms = request.urlopen, 0

    def busy_at_first(sent: request.Request, **more: Any) -> Any:
        nonlocal confirms
        confirms += sent.full_url.endswith("/confirm")
        if confirms == 1:
            body = io.BytesIO(b'{"error": {"code": "idempotency_in_progress"}}')
            raise error.HTTPError(sent.full_url, 409, "", Message(), body)
        return send(sent, **more)

    monkeypatch.setattr(request, "urlopen", busy_at_first)
    assert await shop.buy(lambda: shop.sell(shop.customer)) == "confirmed"
    assert (confirms, shop.refunds) == (2, 0)
