"""What a route, an action and a loop of this service work with."""

from collections.abc import Callable
from enum import StrEnum

from msgspec import Struct

from shared.database import Database
from shared.outbox import Bell


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
