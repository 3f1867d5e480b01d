"""How long a loaded body may be sent: an erasure waits that long, and need not know who has it in memory."""

# Since the start of a statement that found nothing changed. Dispatchers ask about all lanes four times a
# second.
FRESH_SECONDS = 2.5
# Longer, because clocks do not run alike, and because of what is being written at the last moment.
WAIT_SECONDS = 3.0


class Freshness:
    """Of everything that a lane has loaded since the last change. What it loads after the next has its own.

    Moments are of the monotonic clock, which also runs while the process is stopped.
    """

    __slots__ = ("_changed", "_queried_at")

    def __init__(self) -> None:
        self._queried_at = float("-inf")
        self._changed = False

    def confirm(self, queried_at: float) -> None:
        """A statement that began then has found no change."""
        self._queried_at = max(self._queried_at, queried_at)

    def end(self) -> None:
        self._changed = True

    def holds(self, moment: float) -> bool:
        return not self._changed and moment - self._queried_at < FRESH_SECONDS
