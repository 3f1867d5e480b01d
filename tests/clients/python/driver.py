"""The Python client behind the protocol of tests/clients/drivers.py: `python -m … blocking | asyncio`."""

import asyncio
import json
import os
import sys
from collections.abc import Awaitable, Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from itertools import islice
from typing import Any

import msgspec

from studio_partner import AsyncClient, Client, Page, UnknownEvent
from studio_partner.events import EventPage

AT_ONCE = 32


def settings() -> dict[str, Any]:
    given: dict[str, Any] = {"key": os.environ["STUDIO_KEY"], "base_url": os.environ["STUDIO_URL"]}
    if "STUDIO_TIMEOUT" in os.environ:
        given["timeout"] = float(os.environ["STUDIO_TIMEOUT"])
    if "STUDIO_RETRIES" in os.environ:
        given["retries"] = int(os.environ["STUDIO_RETRIES"])
    return given


def shown(value: Any) -> Any:
    """As JSON, with wire names."""
    if isinstance(value, UnknownEvent):
        return {**value.raw, "unknown": True}
    if isinstance(value, list):
        return [shown(one) for one in value]
    if isinstance(value, Page):
        page = {"object": "list", "data": shown(value.data), "has_more": value.has_more}
        page["next_cursor"] = value.next_cursor
        if isinstance(value, EventPage):
            page |= {"latest_sequence": value.latest_sequence, "oldest_sequence": value.oldest_sequence}
        return page
    return msgspec.to_builtins(value, enc_hook=str)


def told(number: int, result: Any = None, error: Exception | None = None) -> None:
    line: dict[str, Any] = {"id": number}
    if error is None:
        line["result"] = shown(result)
    else:
        simple = {name: one for name, one in vars(error).items() if isinstance(one, str | int | dict)}
        line["error"] = {"class": type(error).__name__, "message": str(error)} | simple
    sys.stdout.write(json.dumps(line) + "\n")
    sys.stdout.flush()


def called(client: Client, call: str, path: Sequence[str], fields: dict[str, Any]) -> Any:
    if call == "follow":
        return list(islice(client.events.follow(fields["after_sequence"]), fields["count"]))
    result = getattr(client, call)(*path, **fields)
    return list(result) if call.startswith("iter_") else result


async def awaited(client: AsyncClient, call: str, path: Sequence[str], fields: dict[str, Any]) -> Any:
    if call == "follow":
        following = client.events.follow(fields["after_sequence"])
        return [await anext(following) for _ in range(fields["count"])]
    result = getattr(client, call)(*path, **fields)
    return [row async for row in result] if call.startswith("iter_") else await result


async def run(call: Callable[..., Awaitable[Any]]) -> None:
    async def answer(given: dict[str, Any]) -> None:
        try:
            told(given["id"], await call(given["call"], given["path"], given["fields"]))
        except Exception as error:
            told(given["id"], error=error)

    async with asyncio.TaskGroup() as group:
        while line := await asyncio.to_thread(sys.stdin.readline):
            group.create_task(answer(json.loads(line)))


async def main(mode: str) -> None:
    # One more than there are calls at once: it reads the input.
    asyncio.get_running_loop().set_default_executor(ThreadPoolExecutor(AT_ONCE + 1))
    if mode == "blocking":
        with Client(**settings()) as client:
            await run(lambda *given: asyncio.to_thread(called, client, *given))
    else:
        async with AsyncClient(**settings()) as client_with_asyncio:
            await run(partial(awaited, client_with_asyncio))


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1]))
