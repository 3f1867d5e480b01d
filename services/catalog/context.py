"""The dependencies of this service's routes and actions."""

from msgspec import Struct

from shared.db.database import Database


class Catalog(Struct, frozen=True):
    db: Database
