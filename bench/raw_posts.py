"""python -m bench.raw_posts URL COUNT: signed POSTs from one process, 200 at a time, nothing stored.

Uses the dispatcher's client and signing. Prints the POSTs per second.
"""

import asyncio
import sys
import time

import uvloop

from services.webhooks.dispatcher.sender import Sender
from services.webhooks.rules.signing import new_secret, signature, signing_key
from services.webhooks.rules.urls import UrlPolicy
from shared.http.server import tune_interpreter
from shared.wire import new_id

AT_ONCE = 200
BODY = b'{"object":"event","data":{"object":{' + b'"x":0,' * 110 + b'"y":1}}}'


async def post(sender: Sender, url: str, key: bytes, count: int) -> None:
    for _ in range(count):
        event_id, at = new_id(), int(time.time())
        headers = {
            "Content-Type": "application/json",
            "webhook-id": event_id,
            "webhook-timestamp": str(at),
            "webhook-signature": signature([key], event_id, at, BODY),
            "webhook-sequence": "1",
        }
        sent = await sender.post(url, headers, BODY)
        if not sent.outcome.succeeded:
            raise SystemExit(f"a post failed: {sent.outcome}")


async def main(url: str, count: int) -> None:
    key = signing_key(new_secret())
    tune_interpreter()
    async with Sender(UrlPolicy(True, frozenset({"127.0.0.1"}))) as sender:
        await post(sender, url, key, 10)
        began = time.perf_counter()
        await asyncio.gather(*(post(sender, url, key, count // AT_ONCE) for _ in range(AT_ONCE)))
        print(count // AT_ONCE * AT_ONCE / (time.perf_counter() - began))


if __name__ == "__main__":
    uvloop.run(main(sys.argv[1], int(sys.argv[2])))
