"""Hostile clients and receivers, all on loopback: silent, slow, endless, flooding."""

import asyncio
import json
import os
import socket
import sys
from asyncio.subprocess import PIPE
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager, suppress

from tests.harness.eventually import in_background

Attack = Callable[[int, int, str], Awaitable[None]]


async def connect(
    port: int, number: int, *, receive_buffer: int | None = None, address: str | None = None
) -> socket.socket:
    """From one of many loopback addresses, as an attacker with many machines would."""
    opened = socket.socket()
    opened.setblocking(False)
    if receive_buffer:
        opened.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
    opened.bind((address or f"127.0.{1 + number % 8}.{1 + number % 200}", 0))
    await asyncio.get_running_loop().sock_connect(opened, ("127.0.0.1", port))
    return opened


async def until_closed(opened: socket.socket) -> None:
    while await asyncio.get_running_loop().sock_recv(opened, 1024):
        pass


async def silent(port: int, number: int, key: str) -> None:
    """Connects and sends nothing."""
    with await connect(port, number) as opened:
        await until_closed(opened)


async def slow_sending(port: int, number: int, key: str) -> None:
    """One byte of the header at a time."""
    with await connect(port, number) as opened:
        for letter in b"GET /partner/v1/studio HTTP/1.1\r\nHost: studio\r\nX-Slow: " + b"y" * 10_000:
            await asyncio.get_running_loop().sock_sendall(opened, bytes([letter]))
            await asyncio.sleep(0.5)


async def slow_reading(port: int, number: int, key: str) -> None:
    """Asks for the largest page that needs no key, again and again, and reads nothing."""
    request = b"GET /partner/v1/openapi.json HTTP/1.1\r\nHost: studio\r\n\r\n"
    with await connect(port, number, receive_buffer=4096) as opened:
        for _ in range(50):
            await asyncio.get_running_loop().sock_sendall(opened, request)
            await asyncio.sleep(1)


async def keep_alive(port: int, number: int, key: str) -> None:
    """From five addresses: a keep-alive connection that asks something without a key every few seconds."""
    request = b"GET /partner/v1/studio HTTP/1.1\r\nHost: studio\r\n\r\n"
    loop = asyncio.get_running_loop()
    with await connect(port, number, address=f"127.0.20.{1 + number % 5}") as opened:
        while True:
            await loop.sock_sendall(opened, request)
            if not await loop.sock_recv(opened, 4096):
                return
            await asyncio.sleep(3)


LARGE = b'{"email":"a@example.com","x":"\\ud800","y":[%s]}' % b",".join([b"1"] * 120_000)


async def large_bodies(port: int, number: int, key: str) -> None:
    """With a key of its own: bodies of 240 KB that are expensive to refuse, one after the other."""
    head = (
        f"POST /partner/v1/leads HTTP/1.1\r\nHost: studio\r\nX-Service-Key: {key}\r\n"
        f"Content-Type: application/json\r\nContent-Length: {len(LARGE)}\r\n\r\n"
    )
    loop = asyncio.get_running_loop()
    with await connect(port, number, address="127.0.21.1") as opened:
        while True:
            await loop.sock_sendall(opened, head.encode() + LARGE)
            if not await loop.sock_recv(opened, 65536):
                return


# In the order of the counts that `attackers` is given.
ATTACKS = (silent, slow_sending, slow_reading, keep_alive, large_bodies)


async def repeat(attack: Attack, port: int, number: int, key: str) -> None:
    """A client that is disconnected connects again."""
    while True:
        with suppress(OSError):
            await attack(port, number, key)
        await asyncio.sleep(0.5)


ENDLESS = (
    b"HTTP/1.1 100 Continue\r\n\r\n" * 500,
    b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1;" + b"x=y;" * 2_000,
    b"HTTP/1.1 200 OK\r\nX: " + b"y" * 8_000,
    b"",
)


async def _response_without_end(
    number: int, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
) -> None:
    part = ENDLESS[number % len(ENDLESS)]
    with suppress(ConnectionError, asyncio.IncompleteReadError, asyncio.LimitOverrunError):
        await reader.readuntil(b"\r\n\r\n")
        while part and not writer.is_closing():
            writer.write(part)
            await writer.drain()
            await asyncio.sleep(0)
        await reader.read()
    writer.close()


@asynccontextmanager
async def hostile_receivers(count: int) -> AsyncIterator[list[str]]:
    """URLs of receivers that send without end or never answer."""
    async with AsyncExitStack() as stack:
        urls = []
        for number in range(count):

            async def serve(r: asyncio.StreamReader, w: asyncio.StreamWriter, number: int = number) -> None:
                await _response_without_end(number, r, w)

            server = await asyncio.start_server(serve, "127.0.0.1", 0)
            stack.callback(server.close)
            urls.append(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/hook")
        yield urls


async def attack_until_stdin_ends(port: int, counts: list[int], receivers: int, key: str) -> None:
    """Prints the receivers' URLs as a line of JSON, then attacks.

    With the lowest priority: real attackers do not use our processors.
    """
    os.nice(19)
    reader = asyncio.StreamReader()
    await asyncio.get_running_loop().connect_read_pipe(
        lambda: asyncio.StreamReaderProtocol(reader), sys.stdin
    )
    async with hostile_receivers(receivers) as urls:
        sys.stdout.write(json.dumps(urls) + "\n")
        sys.stdout.flush()
        clients = [(one, n) for one, count in zip(ATTACKS, counts, strict=True) for n in range(count)]
        async with in_background(*(repeat(attack, port, number, key) for attack, number in clients)):
            await reader.read()


@asynccontextmanager
async def attackers(port: int, counts: list[int], receivers: int, key: str) -> AsyncIterator[list[str]]:
    """In a process of their own, so that they do not slow down the client that is measured.

    The URLs of the receivers.
    """
    words = [str(port), json.dumps(counts), str(receivers), key]
    child = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "tests.harness.hostile_clients", *words, stdin=PIPE, stdout=PIPE
    )
    assert child.stdin is not None and child.stdout is not None
    try:
        yield json.loads(await child.stdout.readline())
    finally:
        child.stdin.close()
        try:
            await asyncio.wait_for(child.wait(), 20)
        except TimeoutError:
            child.kill()
            await child.wait()


if __name__ == "__main__":
    asyncio.run(
        attack_until_stdin_ends(int(sys.argv[1]), json.loads(sys.argv[2]), int(sys.argv[3]), sys.argv[4])
    )
