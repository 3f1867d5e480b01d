"""An Idempotency-Key is found again by its path, whatever printable characters it has."""

from urllib.parse import quote

import aiohttp
from yarl import URL

from shared.wire import new_id
from tests.harness.bookable_studio import bookable
from tests.harness.system import System

STARTS = ("orders/2026/08/", "50%/", "what?#", "../../", "a b~", "%2F")


async def test_a_write_is_found_by_its_key_whatever_its_characters(system: System) -> None:
    """404 would tell the partner that nothing was done, and it would book again."""
    studio = bookable(classes=len(STARTS))
    await system.import_lines(studio.lines)
    base = f"{system.running.partner_url}/partner/v1"
    async with aiohttp.ClientSession(headers={"X-Service-Key": await system.key()}) as session:
        for start, class_id in zip(STARTS, studio.class_ids, strict=True):
            key = start + new_id()
            own = URL(f"{base}/idempotency-keys/{quote(key, safe='')}", encoded=True)
            body = {"class_id": class_id, "member_id": studio.member_ids[0]}
            async with session.get(own) as unknown:
                assert unknown.status == 404, start
            async with session.post(f"{base}/bookings", json=body, headers={"Idempotency-Key": key}) as made:
                booking = await made.json()
                assert made.status == 201, booking
            async with session.get(own) as found:
                assert found.status == 200, start
                assert (await found.json())["resource_id"] == booking["id"]
