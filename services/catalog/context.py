"""What a catalog route works with."""

from msgspec import Struct

from shared.db.database import Database


class Catalog(Struct, frozen=True):
    db: Database
