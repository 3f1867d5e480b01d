"""Receivers that respond late, incompletely, without a request, with errors or resets."""

import random
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from tests.chaos.arena import Arena
from tests.chaos.faults.fault import Fault, Group, Injection
from tests.chaos.receiver import Manner


def responses(manner: Manner) -> Injection:
    @asynccontextmanager
    async def inject(arena: Arena, draw: random.Random) -> AsyncIterator[str]:
        kinds = draw.choice([["ordered"], ["unordered"], ["ordered", "unordered"]])
        receivers = [receiver for kind in kinds for receiver in arena.receivers_of(kind)]
        for receiver in receivers:
            receiver.manner = manner
        try:
            yield f"all that are {' or '.join(kinds)}"
        finally:
            for receiver in receivers:
                receiver.manner = "ok"

    return inject


RECEIVERS = Group(
    "receivers",
    (
        Fault("answers late", responses("late"), (3.0, 6.0)),
        Fault("half an answer", responses("half"), (2.0, 5.0)),
        Fault("unasked bytes after a 500", responses("unasked"), (2.0, 5.0)),
        Fault("resets", responses("reset"), (2.0, 5.0)),
        Fault("only errors", responses("error"), (2.0, 5.0)),
    ),
)
