"""Finds lines of other services that refer to a room, an instructor or the like that does not exist."""

from collections import defaultdict
from collections.abc import Sequence
from typing import Final

from services.catalog.wire.import_lines import Referring
from shared.db.database import Connection
from shared.http.importing import Decoded, Rejected

TABLES: Final = {
    "class_type_id": "class_types",
    "location_id": "locations",
    "room_id": "rooms",
    "instructor_id": "instructors",
    "product_id": "products",
}


def _missing(table: str) -> str:
    return f"""
SELECT named.studio_id, named.id FROM unnest($1::uuid[], $2::uuid[]) AS named (studio_id, id)
WHERE NOT EXISTS (SELECT FROM {table} t WHERE t.studio_id = named.studio_id AND t.id = named.id)
"""  # noqa: S608


MISSING: Final = {field: _missing(table) for field, table in TABLES.items()}


async def missing_references(conn: Connection, lines: Sequence[Decoded[Referring]]) -> list[Rejected]:
    """One query per field that any line has. The first missing reference of a line is its reason."""
    named: dict[str, dict[tuple[str, str], list[int]]] = defaultdict(lambda: defaultdict(list))
    for line in lines:
        for field in TABLES:
            if (id_ := getattr(line.value, field, None)) is not None:
                named[field][line.studio_id, id_].append(line.number)
    reasons: dict[int, str] = {}
    for field, rows in named.items():
        studios, ids = zip(*rows, strict=True)
        for row in await conn.fetch(MISSING[field], studios, ids):
            reason = f"{field} names {row['id']}, which is not among the studio's {TABLES[field]}."
            for number in rows[row["studio_id"], row["id"]]:
                reasons.setdefault(number, reason)
    return [Rejected(number, reasons[number]) for number in sorted(reasons)]
