"""CPU of a call through the client beside the same call by httpx2 alone, in turns in one run.

`python bench/cpu.py [TURNS [CALLS]]`, with studio_partner installed or in PYTHONPATH. The calls by hand read
the JSON, as a program without the client would.
"""

import asyncio
import json
import statistics
import subprocess
import sys
import time
import uuid
from collections.abc import Awaitable, Callable
from typing import Any

import httpx2

from studio_partner import AsyncClient, Client

FIELDS = {
    "class_id": "5eedca5e-0000-4000-8000-000000000006",
    "member_id": "5eedca5e-0000-4000-8000-000000000009",
}
BOOKING: dict[str, Any] = {
    "id": "0d9fba4e-5a5e-4c1f-9d6e-5f1f1b2f0a11",
    "object": "booking",
    **FIELDS,
    "status": "confirmed",
    "booking_source": "partner_api",
    "class_spot_id": None,
    "waitlist_position": None,
    "held_until": None,
    "created_at": "2026-11-01T08:00:00Z",
    "updated_at": "2026-11-01T08:00:00Z",
}
HEADERS = {"x-service-key": "spk_test_bench_key", "accept": "application/json", "user-agent": "bench/1"}


class Server(asyncio.Protocol):
    """Answers without looking: a page for a query, otherwise one booking."""

    page = json.dumps(
        {"object": "list", "data": [BOOKING] * 50, "has_more": False, "next_cursor": None}
    ).encode()
    one = json.dumps(BOOKING).encode()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport

    def data_received(self, data: bytes) -> None:
        head, _, body = data.partition(b"\r\n\r\n")
        if head.startswith(b"POST") and not body:
            return  # The body comes with the next packet.
        content = self.page if b"?limit" in head else self.one
        headers = 'X-Request-Id: r\r\nX-API-Version: 2026-08-02\r\nETag: "e60b8de5"\r\n'
        start = f"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n{headers}"
        self.transport.write(f"{start}Content-Length: {len(content)}\r\n\r\n".encode() + content)


async def serve() -> None:
    server = await asyncio.get_running_loop().create_server(Server, "127.0.0.1", 0)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


def blocking(url: str) -> dict[str, list[Callable[[], Any]]]:
    client = Client("spk_test_bench_key", base_url=url)
    raw = httpx2.Client(headers=HEADERS)

    def read(target: str) -> Any:
        return raw.get(url + target).json()

    def book() -> Any:
        key = {"idempotency-key": str(uuid.uuid4())}
        return raw.post(f"{url}/bookings", json=FIELDS, headers=key).json()

    return {
        "GET one booking": [lambda: read("/bookings/b"), lambda: client.get_booking("b")],
        "GET a page of 50": [lambda: read("/bookings?limit=50"), lambda: client.list_bookings(limit=50)],
        "POST a booking": [book, lambda: client.create_booking(**FIELDS)],
    }


def with_asyncio(url: str) -> dict[str, list[Callable[[], Awaitable[Any]]]]:
    client = AsyncClient("spk_test_bench_key", base_url=url)
    raw = httpx2.AsyncClient(headers=HEADERS)

    async def read(target: str) -> Any:
        return (await raw.get(url + target)).json()

    async def book() -> Any:
        key = {"idempotency-key": str(uuid.uuid4())}
        return (await raw.post(f"{url}/bookings", json=FIELDS, headers=key)).json()

    return {
        "GET one booking": [lambda: read("/bookings/b"), lambda: client.get_booking("b")],
        "GET a page of 50": [lambda: read("/bookings?limit=50"), lambda: client.list_bookings(limit=50)],
        "POST a booking": [book, lambda: client.create_booking(**FIELDS)],
    }


def microseconds(call: Callable[[], Any], calls: int) -> float:
    began = time.process_time()
    for _ in range(calls):
        call()
    return (time.process_time() - began) / calls * 1e6


async def microseconds_awaited(call: Callable[[], Awaitable[Any]], calls: int) -> float:
    began = time.process_time()
    for _ in range(calls):
        await call()
    return (time.process_time() - began) / calls * 1e6


def show(name: str, turns: list[list[float]]) -> None:
    raw, ours = (statistics.median(one) for one in zip(*turns, strict=True))
    ratio = statistics.median(two / one for one, two in turns)
    print(f"| {name} | {raw:.0f} | {ours:.0f} | {ratio:.2f} |", flush=True)


async def main(url: str, turns: int, calls: int) -> None:
    print("| | httpx2 | client | ratio |\n|---|---|---|---|")
    for name, pair in blocking(url).items():
        found = [[microseconds(one, calls) for one in pair] for _ in range(turns + 1)]
        show(name, found[1:])
    for name, both in with_asyncio(url).items():
        timed = [[await microseconds_awaited(one, calls) for one in both] for _ in range(turns + 1)]
        show(f"{name}, asyncio", timed[1:])


if __name__ == "__main__":
    if sys.argv[1:] == ["serve"]:
        asyncio.run(serve())
    else:
        given = [int(word) for word in sys.argv[1:]]
        server = subprocess.Popen([sys.executable, __file__, "serve"], stdout=subprocess.PIPE, text=True)
        try:
            assert server.stdout is not None
            address = f"http://127.0.0.1:{server.stdout.readline().strip()}/partner/v1"
            asyncio.run(main(address, *(given + [15, 500][len(given) :])))
        finally:
            server.kill()
            server.wait()
