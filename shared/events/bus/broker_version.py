"""The oldest supported RabbitMQ version, checked at each connection."""

import re

from aio_pika.abc import AbstractChannel

from shared.events.bus.declarations import QueueMismatch

# The first whose quorum queues dead-letter at least once; older ones may lose what they park.
OLDEST = (3, 10)


class BrokerTooOld(QueueMismatch):
    """The message is one sentence for the operator."""


async def refuse_old_broker(channel: AbstractChannel, oldest: tuple[int, int] = OLDEST) -> None:
    underlay = await channel.get_underlay_channel()
    said = underlay.connection.server_properties.get("version", "")
    version = said.decode() if isinstance(said, bytes) else str(said)
    found = re.match(r"(\d+)\.(\d+)", version)
    if found and (int(found[1]), int(found[2])) < oldest:
        wanted = ".".join(map(str, oldest))
        raise BrokerTooOld(f"RabbitMQ {version} is too old: {wanted} or newer is needed.")
