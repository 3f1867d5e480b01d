"""The transition from the single queue of the version before partitions, without loss and in order.

Events that the old relay has published may still be in that queue, and their rows are gone. So while the
queue exists, a partition starts by publishing to it: once such an event is acknowledged, all before it are
logged. The partition then waits until the rest is acknowledged too, and continues with its own queue.
"""

import time
from collections.abc import Iterable

import structlog

from shared.db.database import Connection

log = structlog.get_logger("relay")

# How long a partition waits for its last acknowledgements before it sends the remaining events again.
HOLD_SECONDS = 30.0

UNACKNOWLEDGED = "SELECT id FROM outbox WHERE id = ANY ($1::bigint[]) AND parked_at IS NULL"


class OldQueue:
    def __init__(self) -> None:
        self._sent: dict[int, set[int]] = {}
        self._held_since: dict[int, float] = {}

    def begin(self, partitions: Iterable[int], *, exists: bool) -> None:
        """Call it after a new connection or a new lease."""
        for partition in partitions:
            self._sent.pop(partition, None)
            self._held_since.pop(partition, None)
            if exists:
                self._sent[partition] = set()

    @property
    def held(self) -> frozenset[int]:
        """Partitions that must not publish anything now."""
        return frozenset(self._held_since)

    def takes(self, partition: int, row_id: int) -> bool:
        """Whether this row has to be published to the old queue."""
        sent = self._sent.get(partition)
        if sent is None:
            return False
        sent.add(row_id)
        return True

    async def refresh(self, conn: Connection) -> None:
        if not any(self._sent.values()):
            return
        ids = [row_id for sent in self._sent.values() for row_id in sent]
        left = {row["id"] for row in await conn.fetch(UNACKNOWLEDGED, ids)}
        for partition, sent in list(self._sent.items()):
            if sent and not sent <= left:
                self._held_since.setdefault(partition, time.monotonic())
            sent &= left
            since = self._held_since.get(partition)
            if since is not None and not sent:
                del self._sent[partition], self._held_since[partition]
                log.info("partition_left_old_queue", partition=partition)
            elif since is not None and time.monotonic() - since > HOLD_SECONDS:
                del self._held_since[partition]
