"""`studioctl webhooks listen` against a running system."""

import asyncio
import json
import os
from collections.abc import Awaitable
from typing import Any

from standardwebhooks import Webhook

from services.webhooks.rules.signing import new_secret
from shared.wire import new_id
from tests.harness.http import Client
from tests.harness.receiver import answering, receiving
from tests.harness.system import ROOT, STUDIOCTL, System


def listening(system: System, *words: str) -> Awaitable[asyncio.subprocess.Process]:
    environment = os.environ | {
        "STUDIO_HOME": str(system.running.logs),
        "STUDIO_OPERATOR_TOKEN": system.running.operator_token,
        "STUDIO_OPERATOR_URL": system.running.operator_url,
    }
    argv = (*STUDIOCTL, *words, "--studio", system.studio_id)
    pipe = asyncio.subprocess.PIPE
    return asyncio.create_subprocess_exec(*argv, cwd=ROOT, env=environment, stdout=pipe, stderr=pipe)


async def new_member(partner: Client) -> dict[str, Any]:
    body = {"email": f"{new_id()}@example.com", "first_name": "A", "last_name": "B"}
    return await partner.create("/members", body)


async def test_listen_forwards_live_events_signed(system: System) -> None:
    """New events in order, each printed with the local server's response."""
    partner = system.partner(await system.key())
    await new_member(partner)
    await partner.until("/events")
    secret = new_secret()
    async with receiving() as receiver:
        words = ["webhooks", "listen", "--forward-to", receiver.url, "--secret", secret]
        process = await listening(system, *words, "--count", "2", "--events", "member.created")
        assert process.stderr is not None
        assert b"Listening to" in await process.stderr.readline()
        first, second = await new_member(partner), await new_member(partner)
        out, _ = await asyncio.wait_for(process.communicate(), 30)
        lines = [json.loads(line) for line in out.decode().splitlines()]
        assert [line["event"]["resource"]["id"] for line in lines] == [first["id"], second["id"]]
        assert [line["forwarded"] for line in lines] == ["200", "200"]
        for got in receiver.received:
            Webhook(secret).verify(got.body, got.headers)


async def test_listen_as_json_shows_its_secret_first_and_follows_no_redirect(system: System) -> None:
    """The first line is for the program that reads the rest; a redirect is reported and not followed."""
    partner = system.partner(await system.key())
    async with receiving() as receiver, receiving() as elsewhere:
        receiver.response = answering(302, headers={"Location": elsewhere.url})
        words = ["--json", "webhooks", "listen", "--forward-to", receiver.url, "--count", "1"]
        process = await listening(system, *words, "--events", "member.created")
        assert process.stdout is not None
        first = json.loads(await process.stdout.readline())
        assert first["listening"] == system.studio_id
        await new_member(partner)
        out, _ = await asyncio.wait_for(process.communicate(), 30)
        assert [json.loads(line)["forwarded"] for line in out.decode().splitlines()] == ["302"]
        assert elsewhere.count == 0
        [got] = receiver.received
        Webhook(first["secret"]).verify(got.body, got.headers)


async def test_the_secret_is_kept_between_starts_and_the_studio_is_named(system: System) -> None:
    """A receiver under development needs the secret once; the output shows the studio's name."""
    name = (await system.operator.get(f"/studios/{system.studio_id}")).json()["name"]
    secrets = set()
    for _ in range(2):
        process = await listening(system, "webhooks", "listen")
        assert process.stderr is not None
        assert name in (await process.stderr.readline()).decode()
        secrets.add(await process.stderr.readline())
        process.terminate()
        await process.wait()
    assert len(secrets) == 1
    assert b"whsec_" in secrets.pop()
