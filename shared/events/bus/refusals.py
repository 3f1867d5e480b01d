"""When to replace a connection on which the broker refuses a queue's messages.

If a node dies at the moment of a channel's first message to a queue, RabbitMQ may go on asking that node, and
refuse every later message on that channel. On a new one it asks the queue's new leader.
"""

import time

FIRST_SECONDS = 1.0
# A queue that is really full refuses everywhere: then each new connection waits twice as long.
LONGEST_SECONDS = 60.0


class Refusals:
    def __init__(self) -> None:
        self._since: dict[str, float] = {}
        self._wait = FIRST_SECONDS

    def confirmed(self, key: str) -> None:
        if self._since and self._since.pop(key, None) is not None:
            self._wait = FIRST_SECONDS

    def refused(self, key: str) -> bool:
        """Whether that has lasted long enough to try another connection."""
        now = time.monotonic()
        if now - self._since.setdefault(key, now) < self._wait:
            return False
        self._since.clear()
        self._wait = min(self._wait * 2, LONGEST_SECONDS)
        return True
