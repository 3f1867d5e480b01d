"""Which rows of the outbox a relay claims next: no bucket keeps the others waiting.

A claim reads the oldest rows of a lane. Usually all buckets are in the first lane. Once a second the relay
looks at each lane. If one has more rows than a claim reads, then the buckets that have most of them hide
the others. Those that are not being logged are stuck: nothing of them is claimed until that changes. Those
that have a backlog move on to the next lane, and each lane gets its share of every claim. If it is a
studio's backlog that fills a lane, the other studios of its bucket are claimed first.
"""

import time
from collections.abc import Collection, Iterable, Sequence
from typing import Any

import structlog

from shared.db.database import Connection
from shared.events import outbox_look
from shared.events.outbox_look import BucketLook
from shared.events.outbox_rows import WINDOW, Holder, claim
from shared.events.settled_ids import SettledIds

log = structlog.get_logger("relay")

LANES = 4
LOOK_EVERY = 1.0
LOOK_EVERY_IDLE = 5.0
# Looks take at most this part of the time. They cost more while buckets have a long backlog.
LOOK_SHARE = 0.05
LOOK_AT_LEAST_EVERY = 10.0
# A bucket has a backlog if it has this many times its equal share of a full lane in which all are seen.
CROWDED = 1.5


class Lane:
    """There are no waiting rows below `floor`: claims do not read rows that are in flight or gone.

    There are none below `others_floor` except those of `hot_studios`, which fill the lane.
    """

    def __init__(self, buckets: Iterable[int] = ()) -> None:
        self.buckets = set(buckets)
        self.floor = 0
        self.hot_studios: list[str] = []
        self.others_floor = 0

    def lower(self, row_id: int) -> None:
        self.floor = min(self.floor, row_id)
        self.others_floor = min(self.others_floor, row_id)

    async def claim(
        self,
        conn: Connection,
        buckets: Sequence[int],
        busy: Sequence[str],
        limit: int,
        holder: Holder | None,
    ) -> list[Any]:
        rows: list[Any] = []
        if self.hot_studios:
            hot = self.hot_studios
            rows = await claim(conn, buckets, busy, limit, self.others_floor, hot, holder)
        if len(rows) < limit:
            rows += await claim(conn, buckets, busy, limit - len(rows), self.floor, (), holder)
        return rows


class Lanes:
    def __init__(self, service: str) -> None:
        self.service = service
        self._settled = SettledIds()
        # By bucket: there are no rows at all below this id, except parked ones. This stays true, also while
        # another replica has the bucket. `found` tells of exceptions.
        self._starts: dict[int, int] = {}
        self.assign(())

    def assign(self, buckets: Iterable[int]) -> None:
        """Starts anew with these buckets. Any of their rows may be waiting."""
        self._lanes = [Lane(buckets), *(Lane() for _ in range(1, LANES))]
        self.stuck: set[int] = set()
        self._active = True
        self._looked = float("-inf")
        self._took = 0.0
        self.lower_to_start()

    def starts(self) -> list[tuple[list[int], int]]:
        """Sets of buckets, and for each the id from which on it may have rows."""
        sets = [*(lane.buckets for lane in self._lanes), self.stuck]
        return [(sorted(buckets), self._start_of(buckets)) for buckets in sets if buckets]

    def start_of_each(self) -> dict[int, int]:
        return dict(self._starts)

    def lower(self, row_id: int) -> None:
        """This row is waiting again."""
        for lane in self._lanes:
            lane.lower(row_id)

    def lower_to_start(self) -> None:
        """Any row may be waiting again."""
        for lane in self._lanes:
            lane.lower(self._start_of(lane.buckets))

    def found(self, bucket: int, row_id: int) -> None:
        """This row is there, for example because it is no longer parked."""
        self._starts[bucket] = min(self._starts.get(bucket, 0), row_id)
        for lane in self._lanes:
            if bucket in lane.buckets:
                lane.lower(row_id)

    async def claim(
        self,
        conn: Connection,
        open_buckets: Collection[int],
        busy: Sequence[str],
        room: int,
        holder: Holder | None = None,
    ) -> tuple[list[Any], bool]:
        """Rows that are now in flight, and whether there may be more."""
        lanes = [lane for lane in self._lanes if lane.buckets]
        rows: list[Any] = []
        more = False
        for left, lane in zip(range(len(lanes), 0, -1), lanes, strict=True):
            limit = -((len(rows) - room) // left)
            buckets = [bucket for bucket in lane.buckets if bucket in open_buckets]
            if buckets and limit:
                claimed = await lane.claim(conn, buckets, busy, limit, holder)
                rows += claimed
                more = more or len(claimed) == limit
        self._active = self._active or bool(rows)
        return rows, more

    async def look(self, conn: Connection) -> None:
        """Call it before each claim. It does something once a second, and less often if nothing happens."""
        started = time.monotonic()
        alone = not self.stuck and not any(lane.buckets for lane in self._lanes[1:])
        every = LOOK_EVERY_IDLE if alone and not self._active else LOOK_EVERY
        if started - self._looked < max(every, min(self._took / LOOK_SHARE, LOOK_AT_LEAST_EVERY)):
            return
        bound = await self._settled.refresh(conn)
        if self._settled.rewound:
            self._starts.clear()
        for place, lane in enumerate(self._lanes):
            while lane.buckets and await self._look_at_lane(conn, place, bound):
                pass
        if self.stuck:
            await self._look_at_stuck(conn, bound)
        self._active = False
        self._looked = time.monotonic()
        # Without a bound every claim reads from the first id on: look again soon.
        self._took = self._looked - started if bound else 0.0

    async def _look_at_lane(self, conn: Connection, place: int, bound: int) -> bool:
        """True if some of its buckets were set aside, so that others can be seen now."""
        lane = self._lanes[place]
        found = await outbox_look.look(conn, sorted(lane.buckets), self._start_of(lane.buckets), WINDOW)
        rows = sum(one.rows for one in found)
        full = rows >= WINDOW
        start = min([bound, *(one.lowest for one in found if one.lowest is not None)])
        self._starts |= dict.fromkeys(lane.buckets, start)
        waiting = [one.lowest_waiting for one in found if one.lowest_waiting is not None]
        # In a full lane claims read the rows in flight too, which bounds how many there are.
        lane.floor = start if full else min([bound, *waiting])
        lane.hot_studios = []
        if full:
            if self._set_aside(found, place):
                return True
            await self._look_for_hot_studios(conn, lane, start, bound)
            return False
        if place and rows < WINDOW // 4:
            self._move(lane.buckets, lane, self._lanes[0])
        return False

    def _set_aside(self, found: list[BucketLook], place: int) -> bool:
        lane = self._lanes[place]
        share = WINDOW / len(lane.buckets)
        stuck = {one.bucket for one in found if one.late >= share / 2}
        limit = share * CROWDED if len(found) == len(lane.buckets) else share
        crowded = {one.bucket for one in found if one.rows >= limit} - stuck
        if stuck:
            log.warning("buckets_stuck", service=self.service, buckets=sorted(stuck))
            lane.buckets -= stuck
            self.stuck |= stuck
        if not crowded or len(crowded) == len(lane.buckets):
            return bool(stuck)
        if place + 1 < LANES:
            self._move(crowded, lane, self._lanes[place + 1])
        else:
            # There is no further lane, so the others leave it.
            self._move(lane.buckets - crowded, lane, self._lanes[0])
        return True

    @staticmethod
    async def _look_for_hot_studios(conn: Connection, lane: Lane, start: int, bound: int) -> None:
        buckets = sorted(lane.buckets)
        lane.hot_studios, lowest = await outbox_look.look_for_hot_studios(conn, buckets, start, WINDOW)
        lane.others_floor = bound if lowest is None else min(bound, lowest)

    async def _look_at_stuck(self, conn: Connection, bound: int) -> None:
        buckets = len(self.stuck) + sum(len(lane.buckets) for lane in self._lanes)
        rows = max(2, WINDOW // buckets // 2)
        starts = {bucket: self._starts.get(bucket, 0) for bucket in self.stuck}
        for one in await outbox_look.look_at_each(conn, starts, rows):
            self._starts[one.bucket] = bound if one.lowest is None else min(bound, one.lowest)
            if one.late < rows / 2:
                log.info("bucket_recovered", service=self.service, bucket=one.bucket)
                self.stuck.discard(one.bucket)
                recovered = Lane([one.bucket])
                recovered.floor = self._starts[one.bucket]
                # It may have a backlog, which must not hide the others.
                self._move([one.bucket], recovered, self._lanes[-1])

    def _start_of(self, buckets: Collection[int]) -> int:
        return min((self._starts.get(bucket, 0) for bucket in buckets), default=0)

    @staticmethod
    def _move(buckets: Collection[int], origin: Lane, target: Lane) -> None:
        target.floor = min(target.floor, origin.floor) if target.buckets else origin.floor
        target.hot_studios = []
        target.buckets |= set(buckets)
        origin.buckets -= set(buckets)
