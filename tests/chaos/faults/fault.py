"""A fault: a context manager that injects it, says what it affects, and heals it on exit."""

import random
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager

from msgspec import Struct, structs

from tests.chaos.arena import Arena

# The context's value says what was chosen: the process, the link, the queue.
Injected = AbstractAsyncContextManager[str]
Injection = Callable[[Arena, random.Random], Injected]
# Sets up what the faults of a group need, for all its rounds.
Setup = Callable[[Arena], AbstractAsyncContextManager[None]]


def nothing_missing() -> str | None:
    return None


class Fault(Struct, frozen=True):
    """Held for a random time within `seconds`. `missing` says why it cannot run on this machine.

    With `lasting`, it is healed only after the others have taken over, and their time is measured.
    """

    name: str
    inject: Injection
    seconds: tuple[float, float] = (1.0, 3.0)
    missing: Callable[[], str | None] = nothing_missing
    lasting: bool = False


class Group(Struct, frozen=True):
    """A round that takes longer than `recovery_seconds` to recover is a finding."""

    name: str
    faults: tuple[Fault, ...]
    setup: Setup | None = None
    missing: Callable[[], str | None] = nothing_missing
    recovery_seconds: float = 30.0

    def only(self, text: str) -> "Group":
        """The faults whose name contains the text."""
        return structs.replace(self, faults=tuple(fault for fault in self.faults if text in fault.name))
