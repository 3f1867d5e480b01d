"""Raw bytes on a socket, for requests that no well-behaved client sends."""

import asyncio
from urllib.parse import urlsplit

from msgspec import Struct

RESPONSE_SECONDS = 20.0


class RawConnection(Struct):
    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter

    @property
    def is_closed(self) -> bool:
        """By the other side, as far as it is known by now."""
        return self.reader.at_eof() or self.reader.exception() is not None

    async def write(self, data: bytes) -> None:
        self.writer.write(data)
        await self.writer.drain()

    async def response(self) -> bytes:
        """Everything until the connection ends; b"" if it was closed without a response."""
        async with asyncio.timeout(RESPONSE_SECONDS):
            try:
                return await self.reader.read(-1)
            except ConnectionError:
                return b""

    async def reply(self) -> tuple[int, dict[str, str], bytes]:
        """Status, headers and body of one response, whose length it names."""
        first, *lines = (await self.head()).decode().split("\r\n")[:-2]
        headers = {name.lower(): value for name, _, value in (line.partition(": ") for line in lines)}
        body = await self.reader.readexactly(int(headers["content-length"]))
        return int(first.split()[1]), headers, body

    async def head(self) -> bytes:
        async with asyncio.timeout(RESPONSE_SECONDS):
            return await self.reader.readuntil(b"\r\n\r\n")

    def close(self) -> None:
        self.writer.close()


async def connect(url: str, *, local_address: str | None = None) -> RawConnection:
    parts = urlsplit(url)
    local = (local_address, 0) if local_address else None
    reader, writer = await asyncio.open_connection(parts.hostname, parts.port, local_addr=local)
    return RawConnection(reader, writer)


def request(method: str, path: str, **headers: str) -> bytes:
    named = "".join(f"{name.replace('_', '-')}: {value}\r\n" for name, value in headers.items())
    return f"{method} {path} HTTP/1.1\r\nHost: test\r\nConnection: close\r\n{named}\r\n".encode()
