"""Reads the resources of an import's lines as partners see them, before and after the lines are written."""

from collections.abc import Awaitable, Callable

from msgspec import UNSET, Struct

from services.catalog.store import products
from services.catalog.wire.class_type import ClassType
from services.catalog.wire.instructor import Instructor
from services.catalog.wire.location import Location
from services.catalog.wire.room import Room
from services.catalog.wire.studio import Studio
from shared.db.database import Connection
from shared.events.changes import Shown, ShownById
from shared.http.caller import Caller
from shared.transfer.importing import Rows, keys_of


def _read(table: str, struct: type[Struct], *more: str, key: str = "studio_id") -> str:
    columns = [name for name in struct.__struct_fields__ if name != "object"]
    return f"""
SELECT {key} AS studio_id, version, {", ".join([*columns, *more])} FROM {table}
WHERE ({key}, id) IN (SELECT * FROM unnest($1::uuid[], $2::uuid[]))
"""  # noqa: S608


STATEMENTS: dict[type[Struct], str] = {
    Studio: _read("studios", Studio, key="id"),
    Location: _read("locations", Location),
    Room: _read("rooms", Room),
    ClassType: _read("class_types", ClassType),
    Instructor: _read("instructors", Instructor, "active"),
}


def read_as(struct: type[Struct]) -> Callable[[Connection, Rows], Awaitable[ShownById]]:
    async def read(conn: Connection, rows: Rows) -> ShownById:
        shown: ShownById = {}
        for row in await conn.fetch(STATEMENTS[struct], *keys_of(rows)):
            data = struct(**{name: row[name] for name in struct.__struct_fields__ if name != "object"})
            location = {Location: row["id"], Room: row["location_id"] if struct is Room else None}.get(struct)
            active = row["active"] if struct is Instructor else UNSET
            shown[row["studio_id"], row["id"]] = Shown(
                data=data, version=row["version"], location_id=location, active=active
            )
        return shown

    return read


VERSIONS = "SELECT id, version FROM products WHERE studio_id = $1 AND id = ANY ($2::uuid[])"


async def read_products(conn: Connection, rows: Rows) -> ShownById:
    shown: ShownById = {}
    for studio_id in {row["studio_id"] for row in rows}:
        caller = Caller(studio_id=studio_id, actor="operator")
        ids = [row["id"] for row in rows if row["studio_id"] == studio_id]
        versions = {row["id"]: row["version"] for row in await conn.fetch(VERSIONS, studio_id, ids)}
        for product in await products.of_ids(conn, caller, ids):
            shown[studio_id, product.id] = Shown(data=product, version=versions[product.id])
    return shown
