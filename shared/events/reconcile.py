"""A check at run time: every committed event is in an outbox or in the log.

The row of an event that is not acknowledged says whether it is waiting, in flight or parked. This module
counts each state, lists the studios whose events are overdue, and repairs rows that are marked as parked
although their message is gone. All of it reads only the oldest rows of the outbox.
"""

import structlog

from shared.db.database import Connection, Database
from shared.events.backlog import COUNTED, backlog
from shared.events.bus import Bus, Queue
from shared.events.leases import Leases
from shared.events.overdue import OVERDUE_SECONDS
from shared.events.parked_looks import ParkedLooks, Present
from shared.events.settled_ids import SettledIds
from shared.observability.metrics import OUTBOX_AGE, OUTBOX_EVENTS
from shared.wire import is_id

log = structlog.get_logger("reconcile")

EVERY_SECONDS = 15.0
STUDIOS_NAMED = 20
FIRST = 0

OVERDUE = """
SELECT studio_id, count(*) AS events
FROM outbox_rows_from($3, $2)
WHERE parked_at IS NULL AND created_at < clock_timestamp() - $1 * interval '1 second'
GROUP BY studio_id ORDER BY events DESC
"""
UNPARK = """
UPDATE outbox SET parked_at = NULL, sent_at = NULL
WHERE id = ANY (ARRAY(SELECT id FROM outbox_rows_from($4, $3) WHERE parked_at IS NOT NULL))
  AND parked_at < clock_timestamp() - $2 * interval '1 second' AND event_id <> ALL ($1::uuid[])
RETURNING event_id
"""


class Reconciler:
    """Runs as a loop in each replica. Only the one that leases the first partition does the work.

    If nobody does, because the broker is out of reach or an older version relays, each replica still reports.
    """

    def __init__(
        self,
        database: Database,
        bus: Bus,
        leases: Leases,
        *,
        service: str,
        queue: Queue,
        overdue_seconds: float = OVERDUE_SECONDS,
        parked_looks: ParkedLooks | None = None,
    ) -> None:
        self.database = database
        self.leases = leases
        self.service = service
        self.parked_looks = parked_looks or ParkedLooks(bus, queue)
        self.overdue_seconds = overdue_seconds
        self._settled = SettledIds()
        # There are no rows below. Reading from the first id takes long while an old snapshot keeps all rows.
        self._start = 0

    async def step(self) -> bool:
        is_ours = FIRST in self.leases.held
        async with self.database.connection() as conn:
            if not is_ours and await self.leases.anybody_holds(conn, FIRST):
                self._tell(0, 0, 0, 0, 0.0)
                self.parked_looks.forget()
                self._start = 0
                return False
            bound = await self._settled.refresh(conn)
            if self._settled.rewound:
                self._start = 0
            start = self._start
            found = await backlog(conn, start)
            overdue = []
            if found.age_seconds:
                overdue = await conn.fetch(OVERDUE, self.overdue_seconds, COUNTED, start)
        self._start = bound if found.lowest_id is None else min(bound, found.lowest_id)
        late = sum(row["events"] for row in overdue)
        self._tell(found.waiting, found.in_flight, found.parked, late, found.age_seconds)
        if overdue:
            studios = {str(row["studio_id"]): row["events"] for row in overdue[:STUDIOS_NAMED]}
            log.warning("events_overdue", service=self.service, events=late, studios=studios)
        if not is_ours or not found.parked:
            self.parked_looks.forget()
        elif (present := await self.parked_looks.look(found.parked)) is not None:
            async with self.database.connection() as conn:
                await self._unpark(conn, present)
        return False

    def _tell(self, waiting: int, in_flight: int, parked: int, overdue: int, age: float) -> None:
        OUTBOX_AGE.labels(self.service).set(age)
        states = {"waiting": waiting, "in_flight": in_flight, "parked": parked, "overdue": overdue}
        for state, count in states.items():
            OUTBOX_EVENTS.labels(self.service, state).set(count)

    async def _unpark(self, conn: Connection, present: Present) -> None:
        """A broker that lost its disk, or a process that ended, has lost the message, but not its row."""
        known = [one for one in present.ids if is_id(one)]
        parked_for = max(self.overdue_seconds, present.seconds_ago)
        gone = await conn.fetch(UNPARK, known, parked_for, COUNTED, self._start)
        if gone:
            log.warning("parked_events_published_again", service=self.service, events=len(gone))
