"""Every queue of the system.

Producers publish only to the event log. It forwards what other groups consume, each through its own exchange:
with one queue per routing key, `mandatory` is reliable. With two, one could be missing unnoticed.
"""

from msgspec import Struct

# The exchange for messages that cannot be handled.
PARKED = "studio.parked"


class Queue(Struct, frozen=True):
    """A group of consumers. `topics` are the kinds of events that the event log passes on to it.

    `partitioned`: on a broker it is one queue per partition, under one name for operators. `single_active`:
    replicas take over from one another but never consume at the same time, which would lose the order.
    """

    name: str
    exchange: str
    topics: tuple[str, ...] = ()
    partitioned: bool = False
    single_active: bool = True
    parks: bool = True

    @property
    def service(self) -> str:
        """The service that consumes it."""
        return self.name.partition(".")[0]

    @property
    def parked(self) -> str:
        return f"{self.name}.parked"

    def partition(self, number: int) -> str:
        """The name of one partition's queue on the broker."""
        return f"{self.name}.{number}"

    def names(self, partitions: int) -> list[str]:
        return [self.partition(number) for number in range(partitions)] if self.partitioned else [self.name]


EVENT_LOG = Queue("webhooks.events", "studio.event-log", partitioned=True)
NEW_MEMBERS = Queue("forms.new-members", "studio.forms", topics=("member.created",))

QUEUES = (EVENT_LOG, NEW_MEMBERS)


def acknowledgements_of(source: str) -> Queue:
    """The queue for a producer's acknowledgements. Any of its replicas may handle them; none is parked.

    That of the event log's service, which forwards, has an exchange: a group's own broker user may publish
    there and not to the default exchange, by which it would reach every queue.
    """
    name = f"{source}.acknowledgements"
    exchange = name if source == EVENT_LOG.service else ""
    return Queue(name, exchange, single_active=False, parks=False)


def groups_for(topic: str) -> list[Queue]:
    """The groups to which the event log forwards an event."""
    return [queue for queue in QUEUES if topic in queue.topics]
