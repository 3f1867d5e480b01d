"""One studio floods its own endpoints. The control: the same number of deliveries over many studios."""

import asyncio
import time

from msgspec import Struct

from shared.settings import DEFAULT_RETRY_SCHEDULE
from shared.wire import new_id
from tests.chaos.receiver import Post, receiving
from tests.harness.eventually import until
from tests.services.webhooks.studio_client import StudioClient, open_studio_client

ENDPOINTS_IN_CONTROL = 5


class Sizes(Struct, frozen=True):
    endpoints: int
    events: int
    samples: int
    pause: float


class FairnessReport(Struct, frozen=True):
    """Seconds from publishing an event to its arrival, for a studio outside the load."""

    flooded: list[float]
    control: list[float]

    @property
    def ratio(self) -> float:
        return percentile(self.flooded, 0.99) / percentile(self.control, 0.99)

    def text(self) -> str:
        return f"one studio floods: {shown(self.flooded)}\nthe same, spread: {shown(self.control)}"


def shown(values: list[float]) -> str:
    p50, p99 = (percentile(values, part) * 1000 for part in (0.5, 0.99))
    return f"{len(values):,} samples, p50 {p50:.1f} ms, p99 {p99:.1f} ms"


def percentile(values: list[float], part: float) -> float:
    return sorted(values)[min(len(values) - 1, int(len(values) * part))]


async def make_backlog(client: StudioClient, url: str, studios: int, sizes: Sizes) -> None:
    """`endpoints` in all, each with `events` deliveries that are due as soon as the lanes are free."""
    for _ in range(studios):
        caller = client.caller(studio_id=new_id(), client_id=new_id())
        for number in range(sizes.endpoints // studios):
            await client.endpoint(f"{url}/{number}", caller=caller)
        await client.sql("UPDATE lanes SET token = $1, leased_until = now() + interval '50 s'", new_id())
        await client.publish_some(sizes.events, studio_id=caller.studio_id)


async def latencies(database_url: str, studios: int, sizes: Sizes) -> list[float]:
    """Of a studio next to `studios` others. All endpoints answer at once."""
    arrived: dict[str, float] = {}
    count = 0

    def note(_: str, post: Post, accepted: bool) -> None:
        nonlocal count
        count += 1
        arrived[post.headers["webhook-id"]] = time.perf_counter()

    async with (
        receiving("arrivals", note) as receiver,
        open_studio_client(database_url, webhook_retry_schedule=DEFAULT_RETRY_SCHEDULE) as client,
    ):
        url = f"http://127.0.0.1:{receiver.port}"
        await client.endpoint(f"{url}/well-behaved")
        await make_backlog(client, url, studios, sizes)
        await client.sql("UPDATE lanes SET token = NULL, leased_until = NULL")
        client.context.wakeup.notify()
        sent: dict[str, float] = {}
        publishing = []
        while len(sent) < sizes.samples and count < sizes.endpoints * sizes.events:
            event = client.event()
            sent[event.id] = time.perf_counter()
            publishing.append(asyncio.create_task(client.publish(event)))
            await asyncio.sleep(sizes.pause)
        # Without the load, samples prove nothing. A busy machine takes fewer of them before it ends.
        assert len(sent) > sizes.samples // 2, "the backlog was too small"
        await asyncio.gather(*publishing)
        await until(lambda: sent.keys() <= arrived.keys(), seconds=120)
        return [arrived[event_id] - began for event_id, began in sent.items()]


async def run_fairness(database_url: str, sizes: Sizes) -> FairnessReport:
    control = await latencies(database_url, sizes.endpoints // ENDPOINTS_IN_CONTROL, sizes)
    flooded = await latencies(database_url, 1, sizes)
    return FairnessReport(flooded=flooded, control=control)
