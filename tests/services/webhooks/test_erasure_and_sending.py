"""Nothing of an erased person is sent after the response, whatever a dispatcher has in memory."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from aiohttp import web
from aiohttp.abc import AbstractResolver

from services.webhooks.actions import erase_person
from services.webhooks.dispatcher.dispatcher import Dispatcher
from services.webhooks.dispatcher.sender import Sender
from services.webhooks.rules import freshness
from services.webhooks.rules.urls import UrlPolicy
from shared.wire import new_id
from tests.harness.eventually import eventually, until
from tests.harness.receiver import Received, Receiver, answering
from tests.services.webhooks.studio_client import StudioClient, hold_lanes, open_studio_client, statuses
from tests.services.webhooks.test_erasure import ada_event, erase, mentions
from tests.services.webhooks.test_guard import Responses

FRESH_SECONDS, WAIT_SECONDS = 1.0, 1.4


@pytest.fixture(autouse=True)
def _shorter_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    """Both in proportion: an erasure outlasts what is fresh."""
    assert freshness.WAIT_SECONDS >= freshness.FRESH_SECONDS * 1.2
    monkeypatch.setattr(freshness, "FRESH_SECONDS", FRESH_SECONDS)
    monkeypatch.setattr(erase_person, "WAIT_SECONDS", WAIT_SECONDS)


async def test_what_is_loaded_is_sent_without_the_person_and_echoes_are_not_stored(
    client: StudioClient, receiver: Receiver
) -> None:
    """Two attempts are on the wire when the erasure begins, 18 deliveries are in memory."""
    opened = asyncio.Event()

    async def echo(got: Received) -> web.StreamResponse:
        await opened.wait()
        return web.Response(body=got.body)

    receiver.response = echo
    endpoint = await client.endpoint(receiver.url)
    await hold_lanes(client)
    ada = new_id()
    for version in range(1, 21):
        await client.publish(ada_event(client, ada, version))
    await client.sql("UPDATE lanes SET token = NULL, leased_until = NULL")
    await receiver.until_count(2)
    await erase(client, ada)
    opened.set()
    found = await client.until_deliveries(endpoint["id"], lambda ds: statuses(ds) == ["succeeded"] * 20)
    assert [mentions(got.body) for got in receiver.received] == [True] * 2 + [False] * 18
    assert not mentions(json.dumps(found))
    assert all(d["attempts"][0]["response_status"] == 200 for d in found)


def slow_names() -> Responses:
    """Names that are looked up for as long as `opened` is not set."""
    names = Responses(["127.0.0.1"])
    names.opened.clear()
    return names


@asynccontextmanager
async def replica(client: StudioClient, names: AbstractResolver) -> AsyncIterator[Dispatcher]:
    """A second dispatcher, which takes a step when the test says so."""
    policy = UrlPolicy(allow_http=True, allow_hosts=frozenset({"partner.example", "fifo.example"}))
    async with Sender(policy, resolver=names) as sender:
        dispatcher = Dispatcher(client.context.db, sender, client.context.cipher, (60.0,))
        try:
            yield dispatcher
        finally:
            await dispatcher.stop()


@pytest.mark.parametrize("asks", [True, False], ids=["live", "stopped"])
async def test_a_replica_that_has_loaded_the_person_sends_nothing_after_the_answer(
    database_url: str, receiver: Receiver, second_receiver: Receiver, asks: bool
) -> None:
    """It is connecting when the erasure begins. A stopped one, or one without a database, asks no more."""
    async with open_studio_client(database_url, webhooks_only="log") as client:
        await client.endpoint(receiver.url.replace("127.0.0.1", "partner.example"))
        await client.endpoint(second_receiver.url.replace("127.0.0.1", "fifo.example"), fifo=True)
        ada = new_id()
        for version in (1, 2):
            await client.publish(ada_event(client, ada, version))
        names = slow_names()
        async with replica(client, names) as dispatcher:
            await dispatcher.step()
            await until(lambda: set(names.looked_up) == {"partner.example", "fifo.example"})
            erasure = asyncio.create_task(erase(client, ada))
            while not erasure.done():
                if asks:
                    await dispatcher.step()
                await asyncio.sleep(0.05)
            await erasure
            names.opened.set()
            for one in (receiver, second_receiver):
                assert [mentions(got.body) for got in await one.until_count(2)] == [False, False]
            assert [json.loads(got.body)["resource"]["version"] for got in second_receiver.received] == [1, 2]


async def test_a_connection_that_takes_longer_than_a_body_is_fresh_is_used_nevertheless(
    database_url: str, receiver: Receiver
) -> None:
    """Control: the replica goes on asking and nothing has changed, so the first attempt is sent."""
    async with open_studio_client(database_url, webhooks_only="log") as client:
        await client.endpoint(receiver.url.replace("127.0.0.1", "partner.example"))
        await client.publish(ada_event(client, new_id()))
        names = slow_names()
        async with replica(client, names) as dispatcher:
            loop = asyncio.get_running_loop()
            end = loop.time() + FRESH_SECONDS + 0.2
            while loop.time() < end:
                await dispatcher.step()
                await asyncio.sleep(0.05)
            names.opened.set()
            [got] = await receiver.until_count(1)
            assert mentions(got.body)


async def test_an_erasure_that_was_interrupted_before_its_wait_waits_when_it_is_repeated(
    client: StudioClient, receiver: Receiver
) -> None:
    """What was rewritten is remembered as sendable until nobody can have an earlier body any more."""
    receiver.response = answering(500)
    await client.endpoint(receiver.url)
    ada = new_id()
    await client.publish(ada_event(client, ada))
    await receiver.until_count(1)
    interrupted = asyncio.create_task(erase(client, ada))
    await eventually(lambda: client.sql("SELECT 1 FROM erased_people WHERE sendable"))
    interrupted.cancel()
    await asyncio.gather(interrupted, return_exceptions=True)
    loop = asyncio.get_running_loop()
    started = loop.time()
    await erase(client, ada)
    assert loop.time() - started >= WAIT_SECONDS
    assert await client.sql("SELECT 1 FROM erased_people WHERE sendable") == []
