"""What a route, an action and a loop of this service work with."""

from collections.abc import Callable
from enum import StrEnum
from typing import Any

from msgspec import Struct, field

from shared.database import Database
from shared.outbox import Bell
from shared.routes import Answer
from shared.together import Together


class Stage(StrEnum):
    """The stages of an idempotent write, for a test that ends the process at one of them."""

    CLAIMED = "claimed"
    DECIDED = "decided"
    WRITTEN = "written"
    COMMITTED = "committed"


def _nothing(stage: Stage) -> None:
    pass


class Bookings(Struct, frozen=True, kw_only=True):
    db: Database
    bell: Bell
    reached: Callable[[Stage], None] = _nothing
    together: Together[Any, Answer] = field(default_factory=Together)
