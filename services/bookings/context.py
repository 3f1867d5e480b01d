"""The dependencies of this service's routes, actions and loops."""

from typing import Any

from msgspec import Struct, field

from services.bookings.actions.batching import Batcher
from shared.background import Wakeup
from shared.db.database import Database
from shared.http.response import Response


class Bookings(Struct, frozen=True, kw_only=True):
    db: Database
    wakeup: Wakeup
    batcher: Batcher[Any, Response] = field(default_factory=Batcher)
