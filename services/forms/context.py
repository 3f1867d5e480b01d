"""What a forms route works with."""

from collections.abc import Mapping

from msgspec import Struct

from shared.database import Database
from shared.outbox import Bell


class Forms(Struct, frozen=True):
    db: Database
    bell: Bell
    # The country of each time zone, for phone numbers written without their country code.
    regions: Mapping[str, str]
