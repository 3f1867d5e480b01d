"""What a fault is: a context that injects it, tells which it is, and heals it at its end."""

import random
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager

from msgspec import Struct, structs

from tests.chaos.arena import Arena

# The context's value says what was drawn: the process, the link, the queue.
Injection = Callable[[Arena, random.Random], AbstractAsyncContextManager[str]]
# Around all rounds of a group, for what its faults need.
Setup = Callable[[Arena], AbstractAsyncContextManager[None]]


def nothing_missing() -> str | None:
    return None


class Fault(Struct, frozen=True):
    """It is held for a time drawn from `seconds`. `missing` says why it cannot be had here."""

    name: str
    inject: Injection
    seconds: tuple[float, float] = (1.0, 3.0)
    missing: Callable[[], str | None] = nothing_missing


class Group(Struct, frozen=True):
    name: str
    faults: tuple[Fault, ...]
    setup: Setup | None = None
    missing: Callable[[], str | None] = nothing_missing

    def only(self, text: str) -> "Group":
        """The faults whose name contains the text."""
        return structs.replace(self, faults=tuple(fault for fault in self.faults if text in fault.name))
