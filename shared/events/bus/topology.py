"""Every queue of the system on one page.

Whoever connects declares all of them: a message published before its consumer's first start is kept for it.
"""

from msgspec import Struct


class Queue(Struct, frozen=True):
    """`topics` are event kinds; `*` stands for one word, `#` for any number of them."""

    name: str
    topics: tuple[str, ...]

    @property
    def parked(self) -> str:
        return f"{self.name}.parked"


EVENT_LOG = Queue("webhooks.events", ("#",))
NEW_MEMBERS = Queue("forms.new-members", ("member.created",))

QUEUES = (EVENT_LOG, NEW_MEMBERS)


def matches(pattern: str, topic: str) -> bool:
    """Whether a topic exchange would route `topic` to a queue bound with `pattern`."""
    return _match(pattern.split("."), topic.split("."))


def _match(pattern: list[str], words: list[str]) -> bool:
    if not pattern:
        return not words
    head, rest = pattern[0], pattern[1:]
    if head == "#":
        return any(_match(rest, words[skip:]) for skip in range(len(words) + 1))
    return bool(words) and head in ("*", words[0]) and _match(rest, words[1:])
