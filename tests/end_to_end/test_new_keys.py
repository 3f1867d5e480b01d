"""A key that was issued a moment ago works at once, whatever came from the same address before."""

import asyncio

import aiohttp
import pytest

from services.gateway.rules.key_text import make_key
from tests.harness.system import System


@pytest.fixture
async def session() -> aiohttp.ClientSession:
    """Uses its own address, so that its refusals do not count against other tests."""
    return aiohttp.ClientSession(connector=aiohttp.TCPConnector(local_addr=("127.0.0.9", 0)))


async def test_a_new_key_works_at_once_from_an_address_that_has_used_up_its_refusals(
    system: System, session: aiohttp.ClientSession
) -> None:
    """Unknown keys from such an address are looked up in batches: no query each, no waiting for a poll."""
    url = f"{system.running.partner_url}/partner/v1/key"

    async def status(key: str) -> int:
        async with session.get(url, headers={"X-Service-Key": key}) as response:
            return response.status

    async def guess(times: int) -> list[int]:
        return await asyncio.gather(*(status(make_key(test=False).text) for _ in range(times)))

    async with session:
        for _ in range(3):
            assert 429 in await guess(60)
            new = await system.issue()
            assert await status(str(new["key"])) == 200
        new = await system.issue()
        found, refused = await asyncio.gather(status(str(new["key"])), guess(30))
        assert found == 200 and set(refused) <= {401, 429}
        rotated = (await system.operator.post(f"/keys/{new['id']}/rotate", {})).json()
        assert await status(str(rotated["key"])) == 200
