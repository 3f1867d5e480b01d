"""`studioctl webhooks listen` against a running system."""

import asyncio
import json
import os
import sys
from typing import Any

from standardwebhooks import Webhook

from services.webhooks.rules.signing import new_secret
from shared.wire import new_id
from tests.harness.receiver import receiving
from tests.harness.system import ROOT, System


async def test_listen_forwards_live_events_signed(system: System) -> None:
    """From now on, in order; each is printed with what the local server answered."""
    partner = system.partner(await system.key())

    async def member(name: str) -> dict[str, Any]:
        body = {"email": f"{new_id()}@example.com", "first_name": name, "last_name": "B"}
        made: dict[str, Any] = (await partner.post("/members", body)).json()
        return made

    async def logged() -> int:
        return len((await partner.get("/events")).json()["data"])

    await member("before")
    async with asyncio.timeout(20):
        while await logged() < 1:
            await asyncio.sleep(0.05)
    secret = new_secret()
    environment = os.environ | {
        "STUDIO_OPERATOR_TOKEN": system.running.operator_token,
        "STUDIO_OPERATOR_URL": system.running.operator_url,
    }
    async with receiving() as receiver:
        words = ["webhooks", "listen", "--studio", system.studio_id, "--forward-to", receiver.url]
        words += ["--secret", secret, "--count", "2", "--events", "member.created"]
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            "-m",
            "services.cli.main",
            *words,
            cwd=ROOT,
            env=environment,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
        )
        assert process.stderr is not None
        assert b"Listening to" in await process.stderr.readline()
        first, second = await member("one"), await member("two")
        out, _ = await asyncio.wait_for(process.communicate(), 30)
        lines = [json.loads(line) for line in out.decode().splitlines()]
        assert [line["event"]["resource"]["id"] for line in lines] == [first["id"], second["id"]]
        assert [line["forwarded"] for line in lines] == ["200", "200"]
        for got in receiver.received:
            Webhook(secret).verify(got.body, got.headers)
