"""The dependencies of this service's routes and actions."""

from msgspec import Struct

from shared.background import Wakeup
from shared.db.database import Database


class Forms(Struct, frozen=True):
    db: Database
    wakeup: Wakeup
