"""Up to which id everything in the outbox is visible: ids are not commit-ordered."""

from shared.db.database import Connection

# A transaction locks the table before it takes an id, and until it ends. So the id is read before the locks.
WRITERS = """
SELECT last.id, ARRAY(
    SELECT virtualtransaction FROM pg_locks
    WHERE relation = 'outbox'::regclass AND mode = 'RowExclusiveLock' AND granted AND last.id IS NOT NULL
      AND database = (SELECT oid FROM pg_database WHERE datname = current_database())) AS writers
FROM (SELECT coalesce(pg_sequence_last_value(pg_get_serial_sequence('outbox', 'id')::regclass), 0) AS id
      OFFSET 0) AS last
"""


class SettledIds:
    """No row below `bound` can become visible any more: whoever took such an id has ended its transaction."""

    def __init__(self) -> None:
        self.bound = 0
        # Whether ids are lower than they were before, as in a database that was restored.
        self.rewound = False
        self._last = 0
        self._pending: tuple[int, frozenset[str]] | None = None

    async def refresh(self, conn: Connection) -> int:
        """The bound. It holds for statements that start after this one."""
        row = await conn.fetchrow(WRITERS)
        assert row is not None
        writers = frozenset(row["writers"])
        self.rewound = row["id"] < self._last
        self._last = row["id"]
        if self.rewound:
            self.bound, self._pending = 0, None
        if self._pending is not None:
            last, waited_for = self._pending
            waited_for &= writers
            self._pending = (last, waited_for) if waited_for else None
            if not waited_for:
                self.bound = last + 1
        if not writers:
            self.bound, self._pending = row["id"] + 1, None
        elif self._pending is None:
            self._pending = row["id"], writers
        return self.bound
