"""Which of the received messages a consumer handles next: all queues in turn."""

from collections import Counter
from unittest.mock import Mock

from shared.events.bus.inbox import Inbox, Subscription, Taken
from tests.shared.events.bus.queues import message

BATCH = 32
LIMIT = 100


def inbox_of(deliveries: dict[str, list[int]]) -> Inbox:
    """Queues with deliveries of these sizes."""
    inbox = Inbox()
    for name, sizes in deliveries.items():
        subscription = inbox.subscriptions[name] = Subscription(name, Mock(), inbox)
        for size in sizes:
            subscription.arrived.append((Mock(), [message(n) for n in range(size)]))
    return inbox


def sizes_by_queue(taken: Taken) -> dict[str, int]:
    return {one.name: sum(len(messages) for _, messages in arrived) for one, arrived in taken}


def test_every_backlogged_queue_has_its_turn() -> None:
    """Full batches of four queues fill a round: the next one is for the others."""
    queues = [f"q{number}" for number in range(16)]
    inbox = inbox_of({name: [BATCH] * 5 for name in queues})
    for turn in range(1, 6):
        served: Counter[str] = Counter()
        for _ in range(4):
            served.update(sizes_by_queue(inbox.take(LIMIT)))
        assert served == dict.fromkeys(queues, BATCH), f"turn {turn}"
    assert inbox.take(LIMIT) == []


def test_a_long_queue_gets_what_the_short_ones_leave() -> None:
    """Nothing of a short one has to wait, and the round is full."""
    short = {f"q{number}": [1] for number in range(15)}
    inbox = inbox_of({"long": [1] * 200} | short)
    assert sizes_by_queue(inbox.take(LIMIT)) == {"long": LIMIT - 15} | dict.fromkeys(short, 1)


def test_small_and_large_deliveries_get_equal_shares() -> None:
    """By messages: the queue with large deliveries does not get more of the round."""
    inbox = inbox_of({"large": [10] * 20, "small": [1] * 200})
    assert sizes_by_queue(inbox.take(LIMIT)) == {"large": 50, "small": 50}


def test_messages_that_are_left_are_not_forgotten() -> None:
    """The consumer waits for something only if there is nothing left."""
    inbox = inbox_of({"q": [BATCH] * 5})
    inbox.take(LIMIT)
    assert inbox.something.is_set()
    inbox.take(LIMIT)
    assert not inbox.something.is_set()
