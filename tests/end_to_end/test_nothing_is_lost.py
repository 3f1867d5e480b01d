"""No fault of the pipeline loses or blocks an event: a broker without its disk, a hung replica, a cut link.

One pipeline with its own servers serves all tests of this file. `make soak` repeats the first one at size.
"""

import asyncio
import os
import shutil
import signal
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import suppress
from pathlib import Path
from urllib.parse import urlsplit

import aio_pika
import pytest
from aio_pika.abc import AbstractConnection

from shared.events.bus import EVENT_LOG, BusError
from shared.events.bus.rabbit import RabbitBus
from shared.events.outbox import partition_of
from tests.chaos.link import BOTH, linked
from tests.harness.broker_outage import run_outage
from tests.harness.databases import Template
from tests.harness.eventually import eventually
from tests.harness.pipeline import (
    PARTITIONS,
    Pipeline,
    new_studio,
    partitions_of,
    running_pipeline,
    second_log_replica,
)
from tests.harness.receiver import receiving
from tests.harness.system import Process, System


async def make_members(system: System, key: str, count: int) -> None:
    client = system.partner(key)
    for number in range(count):
        body = {"email": f"{time.monotonic_ns()}-{number}@example.com", "first_name": "P", "last_name": "Q"}
        assert (await client.post("/members", body)).status == 201


def all_logged(pipeline: Pipeline, count: int) -> Callable[[], Awaitable[bool]]:
    async def look() -> bool:
        logged = await pipeline.rows(
            "SELECT sequence, type FROM webhooks.events WHERE studio_id = $1 ORDER BY 1",
            pipeline.system.studio_id,
        )
        waiting = await pipeline.rows("SELECT 1 FROM bookings.outbox")
        assert [row["sequence"] for row in logged] == list(range(1, len(logged) + 1))
        members = [row for row in logged if row["type"] == "member.created"]
        return len(members) == count and not waiting

    return look


@pytest.fixture(scope="module")
def running(migrated_template: Template) -> Iterator[Pipeline]:
    with migrated_template.copy_for_session() as url, running_pipeline(url) as pipeline:
        yield pipeline


@pytest.fixture
async def pipeline(running: Pipeline) -> AsyncIterator[Pipeline]:
    async with new_studio(running):
        yield running


@pytest.mark.timeout(300)
async def test_bookings_go_on_while_the_broker_is_away(pipeline: Pipeline) -> None:
    """100 bookings during a broker outage: none refused, all delivered after it."""
    async with receiving(keep=False) as receiver:
        await run_outage(pipeline, receiver, bookings=100, before=20)


@pytest.mark.timeout(180)
async def test_members_made_while_the_forms_service_is_away_convert_their_leads_later(
    pipeline: Pipeline,
) -> None:
    """The event waits in the queue; each lead is converted once, with one `lead.updated`."""
    client = pipeline.system.partner(await pipeline.system.key())
    emails = [f"p{number}@example.com" for number in range(20)]
    leads = [(await client.post("/leads", {"email": email})).json()["id"] for email in emails]
    await pipeline.kill("forms")
    for email in emails:
        member = {"email": email.upper(), "first_name": "P", "last_name": "Q"}
        assert (await client.post("/members", member)).status == 201
    assert (await client.get("/leads")).status in (502, 503, 504)
    await pipeline.revive("forms")
    converted = await client.until(
        "/leads", lambda page: {lead["status"] for lead in page["data"]} == {"converted"}, limit=200
    )
    assert [lead["id"] for lead in converted["data"]] == leads
    told = await client.until(
        "/events", lambda page: len(page["data"]) >= len(leads), type="lead.updated", limit=200
    )
    events = told["data"]
    assert sorted(event["resource"]["id"] for event in events) == sorted(leads)
    assert {event["resource"]["version"] for event in events} == {2}


@pytest.mark.timeout(180)
async def test_events_bound_for_two_groups_survive_a_deleted_queue(pipeline: Pipeline) -> None:
    """New members go to the log and to forms: the log's queues are deleted, and none is missed."""
    system = pipeline.system
    key = await system.key()
    async with await aio_pika.connect(pipeline.rabbit.url) as connection:
        for _ in range(2):
            await make_members(system, key, 10)
            for partition in range(4):
                await delete_when_consumed(connection, f"webhooks.events.{partition}")
    await eventually(all_logged(pipeline, 20), seconds=90)


async def delete_when_consumed(connection: AbstractConnection, name: str) -> None:
    """A queue that is deleted while it is being declared takes a part of RabbitMQ with it.

    Its dead-letter worker restarts in vain until the supervisor gives up. From then on no queue can be
    declared on that node, by any test (rabbitmq-server issue 16652).
    """

    async def consumed() -> bool:
        try:
            async with connection.channel() as channel:
                queue = await channel.declare_queue(name, passive=True)
                return bool(queue.declaration_result.consumer_count)
        except aio_pika.exceptions.ChannelNotFoundEntity:
            return False

    await eventually(consumed, seconds=60)
    async with connection.channel() as channel:
        await channel.queue_delete(name)


@pytest.mark.timeout(240)
async def test_a_broker_that_loses_its_disk_loses_no_event(pipeline: Pipeline) -> None:
    """40 events are confirmed while the event log is down; the broker restarts empty; all 40 are logged."""
    key = await pipeline.system.key()
    bus = RabbitBus(pipeline.rabbit.url, "webhooks")

    async def declared() -> bool:
        with suppress(BusError):
            return await bus.depth(EVENT_LOG) >= 0
        return False

    async def confirmed() -> bool:
        return await bus.depth(EVENT_LOG) > 0

    # The test before this one deletes queues, and only the dispatcher's process declares them.
    await eventually(declared)
    await pipeline.kill("webhooks")
    await make_members(pipeline.system, key, 40)
    await eventually(confirmed)
    await pipeline.kill_broker()
    await asyncio.to_thread(_wipe, pipeline.rabbit.home)
    await pipeline.revive_broker()
    await pipeline.revive("webhooks")
    await eventually(all_logged(pipeline, 40), seconds=45)


def _wipe(home: Path) -> None:
    assert any((home / "data").iterdir()), "control: the broker has kept something"
    for path in (home / "data").iterdir():
        shutil.rmtree(path) if path.is_dir() else path.unlink()


@pytest.mark.timeout(180)
async def test_a_hung_webhooks_replica_holds_the_event_log_for_seconds_only(
    pipeline: Pipeline, tmp_path: Path
) -> None:
    """SIGSTOP: it neither dies nor answers. Its partitions move to a healthy replica within seconds."""
    system = pipeline.system
    key = await system.key()
    async with second_log_replica(pipeline, tmp_path) as second:
        await make_members(system, key, 4)
        await eventually(all_logged(pipeline, 4))
        is_seconds = partition_of(system.studio_id) in await partitions_of(pipeline, second)
        hung = (second if is_seconds else system.running.processes["webhooks"]).child
        assert hung is not None
        os.kill(hung.pid, signal.SIGSTOP)
        try:
            await make_members(system, key, 4)
            started = time.monotonic()
            await eventually(all_logged(pipeline, 8))
            took = time.monotonic() - started
        finally:
            os.kill(hung.pid, signal.SIGCONT)
        # 9 s by the heartbeat and the lease. Without them it was 45 s.
        assert took < 30, f"the partition stood still for {took:.0f} s"
        await make_members(system, key, 4)
        await eventually(all_logged(pipeline, 12))


@pytest.mark.timeout(180)
@pytest.mark.parametrize("setting", ["STUDIO_DATABASE_URL", "STUDIO_AMQP_URL"], ids=["postgres", "broker"])
async def test_a_replica_without_one_of_its_links_holds_the_event_log_for_seconds_only(
    pipeline: Pipeline, tmp_path: Path, setting: str
) -> None:
    """The link is silent and stays so: the other server still considers the replica healthy."""
    system = pipeline.system
    url = system.running.processes["webhooks"].environment[setting]
    port = urlsplit(url).port
    async with linked("webhooks-2", port or 0) as link:
        through_link = {setting: url.replace(f":{port}", f":{link.port}")}
        async with second_log_replica(pipeline, tmp_path, **through_link) as second:
            cut_off = await partitions_of(pipeline, second)
            while partition_of(system.studio_id) not in cut_off:
                system.studio_id = await system.new_studio()
            key = await system.key()
            await make_members(system, key, 4)
            await eventually(all_logged(pipeline, 4))
            link.hold(BOTH)
            await make_members(system, key, 4)
            started = time.monotonic()
            await eventually(all_logged(pipeline, 8))
            took = time.monotonic() - started
            # 8 s by the lease and the grace period, 14 s by the heartbeat. It was as long as the cut.
            assert took < 30, f"the partition stood still for {took:.0f} s"
            await link.heal()
            await eventually(lambda: shared_again(pipeline, second))
            await make_members(system, key, 4)
            await eventually(all_logged(pipeline, 12))


async def shared_again(pipeline: Pipeline, second: Process) -> bool:
    return len(await partitions_of(pipeline, second)) == PARTITIONS // 2
