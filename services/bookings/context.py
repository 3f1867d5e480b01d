"""The dependencies of this service's routes, actions and loops."""

from collections.abc import Mapping
from typing import Any

from msgspec import Struct, field

from services.bookings.actions.batching import Batcher
from shared.background import Wakeup
from shared.db.database import Database
from shared.http.answer import Answer
from shared.phones import read_regions


class Bookings(Struct, frozen=True, kw_only=True):
    db: Database
    wakeup: Wakeup
    # The country of each time zone, for phone numbers written without their country code.
    regions: Mapping[str, str] = field(default_factory=read_regions)
    batcher: Batcher[Any, Answer] = field(default_factory=Batcher)
