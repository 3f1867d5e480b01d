"""The receiving side: each session in order and without a gap, and a reply for every batch."""

from collections.abc import Sequence

import pytest

from shared.errors import Unavailable
from shared.events.bus import EVENT_LOG, Batch, Message
from shared.events.bus.intake import Intake


class Log:
    """Stores each event once, unless it is away."""

    def __init__(self) -> None:
        self.stored: list[str] = []
        self.is_away = False

    async def __call__(self, messages: Sequence[Message]) -> None:
        if self.is_away:
            raise Unavailable("staged")
        self.stored += [message.id for message in messages if message.id not in self.stored]


def batch(number: int, *ids: str, session: str = "s", partition: int = 0) -> Batch:
    return Batch(partition, session, number, [Message(id_, "booking.created", b"{}") for id_ in ids])


async def test_a_sessions_batches_are_stored_in_order_and_replied_to() -> None:
    """Several at once, too. A repeated one is replied to again."""
    log = Log()
    intake = Intake(EVENT_LOG, log)
    replies = await intake.take([batch(1, "a", "b"), batch(2, "c")])
    replies += await intake.take([batch(2, "c"), batch(3, "d")])
    assert log.stored == ["a", "b", "c", "d"]
    assert [[one.event_id for one in reply.stored] for reply in replies] == [["a", "b"], ["c"], ["c"], ["d"]]
    assert not any(reply.start_over for reply in replies)


async def test_after_a_gap_nothing_of_the_session_is_stored() -> None:
    """The batch that is missing holds events that come before these. Other sessions go on.

    One that is not known starts over: if the receiver was started anew, what came before may be lost.
    """
    log = Log()
    intake = Intake(EVENT_LOG, log)
    await intake.take([batch(1, "a")])
    others = [batch(1, "x", session="t"), batch(7, "y", session="u")]
    replies = await intake.take([batch(3, "c"), batch(4, "d"), *others])
    assert log.stored == ["a", "x"]
    assert [reply.start_over for reply in replies] == [True, True, False, True]
    assert [len(reply.stored) for reply in replies] == [0, 0, 1, 0]
    [reply] = await intake.take([batch(2, "b")])
    assert not reply.start_over, "the missing one itself may still come"


async def test_what_could_not_be_stored_is_no_part_of_a_session() -> None:
    """While the database is away nothing is replied, and afterwards the session starts over."""
    log = Log()
    intake = Intake(EVENT_LOG, log)
    await intake.take([batch(1, "a")])
    log.is_away = True
    with pytest.raises(Unavailable):
        await intake.take([batch(2, "b")])
    log.is_away = False
    [reply] = await intake.take([batch(3, "c")])
    assert reply.start_over and log.stored == ["a"]
