"""The Python client behind the protocol of tests/clients/drivers.py: `python -m … blocking | asyncio`."""

import asyncio
import json
import os
import sys
from concurrent.futures import ThreadPoolExecutor
from itertools import islice
from threading import Lock
from typing import Any

import msgspec

from studio_partner import AsyncClient, Client, Page, UnknownEvent
from studio_partner.events import EventPage

AT_ONCE = 32
_OUTPUT = Lock()


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
    with _OUTPUT:
        sys.stdout.write(json.dumps(line) + "\n")
        sys.stdout.flush()


def blocking() -> None:
    with Client(**settings()) as client, ThreadPoolExecutor(AT_ONCE) as pool:

        def run(given: dict[str, Any]) -> None:
            fields = given["fields"]
            try:
                if given["call"] == "follow":
                    following = client.events.follow(fields["after_sequence"])
                    told(given["id"], list(islice(following, fields["count"])))
                    return
                result = getattr(client, given["call"])(*given["path"], **fields)
                told(given["id"], list(result) if given["call"].startswith("iter_") else result)
            except Exception as error:
                told(given["id"], error=error)

        for line in sys.stdin:
            pool.submit(run, json.loads(line))


async def with_asyncio() -> None:
    async with AsyncClient(**settings()) as client, asyncio.TaskGroup() as group:

        async def run(given: dict[str, Any]) -> None:
            fields = given["fields"]
            try:
                if given["call"] == "follow":
                    rows: list[Any] = []
                    async for event in client.events.follow(fields["after_sequence"]):
                        rows.append(event)
                        if len(rows) == fields["count"]:
                            break
                    told(given["id"], rows)
                    return
                result = getattr(client, given["call"])(*given["path"], **fields)
                if given["call"].startswith("iter_"):
                    told(given["id"], [row async for row in result])
                else:
                    told(given["id"], await result)
            except Exception as error:
                told(given["id"], error=error)

        while line := await asyncio.to_thread(sys.stdin.readline):
            group.create_task(run(json.loads(line)))


if __name__ == "__main__":
    if sys.argv[1] == "blocking":
        blocking()
    else:
        asyncio.run(with_asyncio())
