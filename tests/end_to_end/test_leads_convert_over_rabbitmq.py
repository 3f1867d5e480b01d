"""Members and leads in separate processes, over the broker: nothing is lost while one of them is down."""

import asyncio
from pathlib import Path

import aiohttp
import pytest

from tests.harness.system import System, separate_services


@pytest.mark.timeout(180)
async def test_members_made_while_the_forms_service_is_away_convert_their_leads_later(
    tmp_path: Path, database_url: str, amqp_url: str
) -> None:
    """The event waits in the queue; each lead is converted once, with one `lead.updated`."""
    with separate_services(tmp_path, database_url, amqp_url) as running:
        async with aiohttp.ClientSession() as session:
            system = System(running, session)
            system.studio_id = await system.new_studio()
            client = system.partner(await system.key())
            emails = [f"p{number}@example.com" for number in range(20)]
            leads = [(await client.post("/leads", {"email": email})).json()["id"] for email in emails]
            running.processes["forms"].kill()
            for email in emails:
                member = {"email": email.upper(), "first_name": "P", "last_name": "Q"}
                assert (await client.post("/members", member)).status == 201
            assert (await client.get("/leads")).status in (502, 503, 504)
            running.processes["forms"].start()
            running.processes["forms"].wait_ready()
            async with asyncio.timeout(30):
                while True:
                    page = (await client.get("/leads", limit=200)).json()
                    if {lead["status"] for lead in page["data"]} == {"converted"}:
                        break
                    await asyncio.sleep(0.05)
            assert [lead["id"] for lead in page["data"]] == leads
            async with asyncio.timeout(30):
                while True:
                    events = (await client.get("/events", type="lead.updated", limit=200)).json()["data"]
                    if len(events) >= len(leads):
                        break
                    await asyncio.sleep(0.05)
            assert sorted(event["resource"]["id"] for event in events) == sorted(leads)
            assert {event["resource"]["version"] for event in events} == {2}
