"""The programs in docs/receiving-webhooks.md, run as they are printed there."""

import asyncio
import json
import os
import re
import shutil
import sqlite3
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import aiohttp
import pytest
from aiohttp import web

from services.webhooks.rules.signing import new_secret, signature, signing_key
from shared.servers.ports import free_port
from tests.clients.python.scripted_server import serving
from tests.harness.eventually import eventually
from tests.harness.receiver import Receiver
from tests.services.webhooks.studio_client import StudioClient, statuses

NODE = shutil.which("node")
PAGE = Path(__file__).resolve().parents[3] / "docs" / "receiving-webhooks.md"


def programs(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", PAGE.read_text(), re.DOTALL)


@asynccontextmanager
async def running(words: list[str], folder: Path, port: int, **environment: str) -> AsyncIterator[str]:
    """The program, once it listens; its URL."""
    process = await asyncio.create_subprocess_exec(
        *words, cwd=folder, env=os.environ | environment | {"PORT": str(port)}, stdout=asyncio.subprocess.PIPE
    )

    async def listens() -> bool | None:
        assert process.returncode is None, "the program ended"
        with suppress(OSError):
            _, writer = await asyncio.open_connection("127.0.0.1", port)
            writer.close()
            return True
        return None

    try:
        await eventually(listens)
        yield f"http://127.0.0.1:{port}/hook"
    finally:
        process.kill()
        await process.wait()


async def forged(url: str) -> int:
    """What the program answers to a request that somebody else signed."""
    body, key = b'{"type":"booking.created","resource":{"id":"x"}}', signing_key(new_secret())
    headers = {"webhook-id": "x", "webhook-timestamp": "1785672000", "webhook-sequence": "1"}
    headers["webhook-signature"] = signature([key], "x", 1785672000, body)
    async with aiohttp.ClientSession() as session, session.post(url, data=body, headers=headers) as response:
        return response.status


@pytest.mark.parametrize("language", ["python", "js"] if NODE else ["python"])
async def test_the_receivers_on_the_page_verify_store_and_refuse(
    language: str, client: StudioClient, tmp_path: Path
) -> None:
    """A real delivery is accepted, a forged one refused, and a repeat changes nothing."""
    name = "hook.py" if language == "python" else "hook.mjs"
    (tmp_path / name).write_text(programs(language)[0])
    port = free_port()
    endpoint = await client.endpoint(f"http://127.0.0.1:{port}/hook")
    command = [sys.executable if language == "python" else str(NODE), name]
    async with running(command, tmp_path, port, WEBHOOK_SECRET=endpoint["secret"]) as url:
        ids = await client.publish_some(3)
        found = await client.until_deliveries(endpoint["id"], lambda ds: statuses(ds) == ["succeeded"] * 3)
        await client.call("POST", f"/webhook-deliveries/{found[0]['id']}/retry")
        await client.until_deliveries(endpoint["id"], lambda ds: ds[0]["attempt_count"] == 2)
        assert await forged(url) == 401
    if language == "python":
        rows = sqlite3.connect(tmp_path / "inbox.db").execute("SELECT id, sequence FROM events").fetchall()
        assert {row[0] for row in rows} == set(ids)
        assert sorted(row[1] for row in rows) == [1, 2, 3]


async def test_the_shell_line_prints_the_signature(
    client: StudioClient, receiver: Receiver, tmp_path: Path
) -> None:
    """With nothing but openssl and what every system has."""
    endpoint = await client.endpoint(receiver.url)
    await client.publish_some(1)
    [got] = await receiver.until_count(1)
    (tmp_path / "body.json").write_bytes(got.body)
    printed = await output_of(
        ["sh", "-c", programs("sh")[0]],
        tmp_path,
        WEBHOOK_SECRET=endpoint["secret"],
        WEBHOOK_ID=got.event_id,
        WEBHOOK_TIMESTAMP=got.headers["webhook-timestamp"],
    )
    assert printed in got.headers["webhook-signature"].split(" ")


async def output_of(words: list[str], folder: Path, **environment: str) -> str:
    process = await asyncio.create_subprocess_exec(
        *words, cwd=folder, env=os.environ | environment, stdout=asyncio.subprocess.PIPE
    )
    out, _ = await process.communicate()
    return out.decode().strip()


async def test_the_poller_on_the_page_reads_every_event_once(
    client: StudioClient, receiver: Receiver, tmp_path: Path
) -> None:
    """Against a stand-in that answers what `GET /events` answers, page by page."""
    await client.publish_some(5)

    async def page(request: web.Request) -> web.StreamResponse:
        assert request.path == "/partner/v1/events"
        after = int(request.query["after_sequence"])
        reply = await client.call("GET", "/events", after_sequence=after, limit=2)
        return web.Response(body=reply.body, content_type="application/json")

    poller = [sys.executable, "-c", programs("python")[1]]
    async with serving(page) as base:
        out = await output_of(poller, tmp_path, BASE_URL=base, SERVICE_KEY="any")
    shown = json.loads((await client.call("GET", "/events")).body)["data"]
    assert [line.split()[2] for line in out.splitlines()] == [event["id"] for event in shown]
