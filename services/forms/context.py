"""The dependencies of this service's routes and actions."""

from collections.abc import Mapping

from msgspec import Struct

from shared.background import Wakeup
from shared.db.database import Database


class Forms(Struct, frozen=True):
    db: Database
    wakeup: Wakeup
    # The country of each time zone, for phone numbers written without their country code.
    regions: Mapping[str, str]
