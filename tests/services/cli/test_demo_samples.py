"""What the samples in the reference need, in a home whose demo studio is from an earlier version."""

import json
from pathlib import Path

import aiohttp
import msgspec

from services.cli.demo import STUDIO_ID, demo_lines
from services.cli.demo.timetable import EVENT_ID, FIXED_CLASSES, IDEMPOTENCY_KEY
from services.cli.demo_key import DEMO_KEY
from services.cli.demo_samples import add_samples
from services.cli.secrets import with_secrets
from shared.settings import Settings
from shared.wire import now
from tests.harness.system import System, embedded_system


async def test_an_older_demo_gets_what_the_samples_need(database_url: str, tmp_path: Path) -> None:
    """The classes of the samples are loaded, and a second start changes nothing."""
    with embedded_system(tmp_path, database_url) as running:
        async with aiohttp.ClientSession() as session:
            system = System(running, session)
            await system.import_lines(
                [line for line in demo_lines(now().date()) if line["object"] == "studio"]
            )
            issued = await system.issue(studio=STUDIO_ID)
            (tmp_path / DEMO_KEY).write_text(json.dumps({"id": issued["id"], "key": issued["key"]}))
            settings = msgspec.structs.replace(
                with_secrets(Settings(home=tmp_path), make=False),
                database_url=database_url,
                port=int(running.partner_url.rpartition(":")[2]),
            )
            partner = system.partner(issued["key"])
            assert (await partner.get(f"/classes/{FIXED_CLASSES[0].id}")).status == 404
            for _ in range(2):
                await add_samples(settings, running.operator_url)
                assert (await partner.get(f"/events/{EVENT_ID}")).status == 200
                assert (await partner.get(f"/idempotency-keys/{IDEMPOTENCY_KEY}")).status == 200
            assert len((await partner.get("/webhook-endpoints")).json()["data"]) == 1
