"""A replica of the event log that has lost the broker gives up its partitions."""

from msgspec import structs

from services.webhooks.app import EventLogConsumer
from shared.events.bus import EVENT_LOG, Queue
from shared.events.bus.memory import MemoryBus
from shared.events.leases import Leases
from tests.services.webhooks.studio_client import open_studio_client


class LostBus(MemoryBus):
    """Without a connection to the broker once `lost` is set. Records what was assigned and held."""

    lost = False
    leases: Leases

    def __init__(self) -> None:
        super().__init__()
        self.assigned: list[tuple[frozenset[int], frozenset[int]]] = []

    def assign(self, queue: Queue, partitions: frozenset[int]) -> None:
        self.assigned.append((partitions, self.leases.held))

    def lost_seconds(self, queue: Queue) -> float:
        return 60.0 if self.lost else 0.0


async def test_the_consumer_gives_up_its_partitions_before_the_leases(database_url: str) -> None:
    """A database that hangs delays the release. Until then the consumer would come back without leases."""
    async with open_studio_client(database_url, webhooks_only="dispatch") as client:
        bus = LostBus()
        consumer = EventLogConsumer(structs.replace(client.context, bus=bus))
        bus.leases = consumer._leases
        [step] = [loop.step for loop in consumer.loops if loop.name == "webhooks-partitions"]
        await step()
        mine, none = EVENT_LOG.all_partitions, frozenset[int]()
        assert bus.assigned == [(mine, mine)]
        bus.lost = True
        await step()
        assert bus.assigned[1:] == [(none, mine), (none, none)]
