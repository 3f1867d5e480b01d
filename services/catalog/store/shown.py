"""Reads the resources of an import's lines as partners see them, before and after the lines are written."""

from collections.abc import Sequence
from typing import Any

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
from shared.http.importing import Decoded


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


async def read_shown(conn: Connection, struct: type[Struct], lines: Sequence[Decoded[Any]]) -> ShownById:
    keys = [line.studio_id for line in lines], [line.value.id for line in lines]
    shown: ShownById = {}
    for row in await conn.fetch(STATEMENTS[struct], *keys):
        data = struct(**{name: row[name] for name in struct.__struct_fields__ if name != "object"})
        location = {Location: row["id"], Room: row["location_id"] if struct is Room else None}.get(struct)
        active = row["active"] if struct is Instructor else UNSET
        key = str(row["studio_id"]), str(row["id"])
        shown[key] = Shown(data=data, version=row["version"], location_id=location, active=active)
    return shown


VERSIONS = "SELECT id, version FROM products WHERE studio_id = $1 AND id = ANY ($2::uuid[])"


async def read_products(conn: Connection, lines: Sequence[Decoded[Any]]) -> ShownById:
    shown: ShownById = {}
    for studio_id in {line.studio_id for line in lines}:
        caller = Caller(studio_id=studio_id, actor="operator")
        ids = [line.value.id for line in lines if line.studio_id == studio_id]
        versions = {row["id"]: row["version"] for row in await conn.fetch(VERSIONS, studio_id, ids)}
        for product in await products.of_ids(conn, caller, ids):
            shown[studio_id, product.id] = Shown(data=product, version=versions[product.id])
    return shown
