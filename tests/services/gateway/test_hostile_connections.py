"""The partner port as started in production: what clients without a key can occupy; cut bodies; an attack."""

import asyncio
import socket
from collections.abc import AsyncIterator
from contextlib import suppress

import pytest
from standardwebhooks import Webhook
from yarl import URL

from tests.harness.eventually import eventually, until
from tests.harness.hostile_run import Sizes, run_hostile
from tests.harness.http import Client
from tests.harness.process import memory_mb
from tests.harness.raw_http import RawConnection, connect, request
from tests.harness.receiver import Receiver
from tests.harness.system import System

SILENT = 1_500
READERS = 200


@pytest.fixture(autouse=True)
async def port(system: System) -> AsyncIterator[None]:
    """Before and after each test, the server has noticed that the clients of the last one have gone."""

    async def is_served() -> bool:
        response = b""
        with suppress(OSError):
            fresh = await connect(system.running.partner_url)
            await fresh.write(request("GET", "/health/live"))
            response = await fresh.response()
            fresh.close()
        return response.startswith(b"HTTP/1.1 200")

    async def is_free() -> bool:
        # Of one address's share of the port, more than a test needs.
        return all(await asyncio.gather(*(is_served() for _ in range(50))))

    await eventually(is_free)
    yield
    await eventually(is_free)


async def test_silent_connections_do_not_block_the_partner_port(system: System, partner: Client) -> None:
    """More than the server's backlog, from one address: they are closed, and partners get answers."""
    flood: list[RawConnection] = []
    refused = 0

    async def occupy() -> None:
        nonlocal refused
        try:
            flood.append(await connect(system.running.partner_url))
        except OSError:  # closed before this side had noticed that it was open
            refused += 1

    try:
        for _ in range(SILENT // 50):
            await asyncio.gather(*(occupy() for _ in range(50)))
        async with asyncio.timeout(5):
            assert (await partner.get("/studio")).status == 200
            fresh = await connect(system.running.partner_url)
            await fresh.write(request("GET", "/health/live"))
            assert (await fresh.response()).startswith(b"HTTP/1.1 200")
            await until(lambda: refused + sum(one.is_closed for one in flood) >= SILENT // 2)
    finally:
        for connection in flood:
            connection.close()


async def test_readers_who_take_nothing_do_not_fill_the_memory(system: System) -> None:
    """The document is 400 KB. Each client is sent a part of it, and more only after reading that."""
    child = system.running.process_of("gateway").child
    assert child is not None
    before = memory_mb(child.pid)
    readers: list[socket.socket] = []
    try:
        for _ in range(READERS):
            reader = socket.socket()
            reader.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            readers.append(reader)
            await asyncio.to_thread(reader.connect, ("127.0.0.1", URL(system.running.partner_url).port))
            reader.sendall(request("GET", "/partner/v1/openapi.json"))
        assert (await system.site.get("/docs")).status == 200  # by then the last of them was served
        await asyncio.sleep(1)
        assert memory_mb(child.pid) - before < READERS * 0.2
    finally:
        for reader in readers:
            reader.close()


async def test_the_port_takes_neither_http2_nor_a_head_without_an_end(system: System) -> None:
    """HTTP/2 is not spoken here. An unfinished head is buffered in memory, so it ends at 32 KiB."""
    preface = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + bytes.fromhex("000000040000000000")
    endless = b"GET /health/live HTTP/1.1\r\nHost: t\r\nX-Long: " + b"x" * 40_000
    responses = []
    for sent in (preface, endless):
        connection = await connect(system.running.partner_url)
        await connection.write(sent)
        responses.append(await connection.response())
        connection.close()
    assert not responses[0] or responses[0].startswith(b"HTTP/1.1 4")
    assert b" 431 " in responses[1][:20]


@pytest.mark.parametrize(
    ("framing", "body"),
    [
        ({"Content_Length": "30"}, b""),
        ({"Content_Length": "30"}, b'{"overlap_seconds": 1'),
        ({"Transfer_Encoding": "chunked"}, b"not a size\r\n"),
        ({"Transfer_Encoding": "chunked"}, b"2\r\n{}\r\nnot a size\r\n"),
    ],
    ids=["nothing came", "cut short", "a corrupt first chunk", "a corrupt second chunk"],
)
async def test_a_write_whose_body_is_cut_short_does_not_run(
    system: System, receiver: Receiver, framing: dict[str, str], body: bytes
) -> None:
    """Rotating has an optional body: one that was cut short is not taken as missing, and nothing runs."""
    key = await system.key()
    partner = system.partner(key)
    made = await partner.create("/webhook-endpoints", {"url": receiver.url})
    path = f"/webhook-endpoints/{made['id']}"
    connection = await connect(system.running.partner_url)
    head = request(
        "POST",
        f"/partner/v1{path}/rotate-secret",
        X_Service_Key=key,
        Content_Type="application/json",
        **framing,
    )
    await connection.write(head + body)
    connection.writer.write_eof()
    response = await connection.response()
    connection.close()
    assert response.startswith(b"HTTP/1.1 422"), response
    assert b"json_invalid" in response
    assert (await partner.post(f"{path}/test")).status == 202
    [got] = await receiver.until_count(1, seconds=60)
    assert len(got.headers["webhook-signature"].split(" ")) == 1, "one secret signs: nothing was rotated"
    Webhook(made["secret"]).verify(got.body, got.headers)


async def test_a_well_behaved_partner_is_served_while_others_attack(system: System) -> None:
    """With silent, slow-sending and slow-reading clients, hostile receivers and a flood, none of its calls is
    refused and no event is lost. The long run measures how much slower it gets, on a quiet machine.
    """
    sizes = Sizes(
        silent=200,
        slow_sending=50,
        slow_reading=50,
        receivers=8,
        seconds=4,
        quiet_seconds=1,
        keep_alive=100,
        large_bodies=8,
    )
    report = await run_hostile(system, sizes)
    assert report.refused == 0, report.text()
    assert report.arrived == report.created > 0, report.text()
    assert len(report.attacked) >= 5, report.text()
    assert max(report.memory_mb.values()) < 450, report.text()
