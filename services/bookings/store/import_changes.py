"""Which lines of an import would change something: compared in the database, without a lock or a write.

A column that a line may leave out is compared only where the line has it.
"""

from collections.abc import Sequence

from services.bookings.store.classes import WRITABLE
from services.bookings.store.import_locks import Lines
from services.bookings.wire import import_lines as wire
from shared.db.database import Connection


def _changed(table: str, same: Sequence[str], optional: Sequence[str] = (), more: Sequence[str] = ()) -> str:
    """`optional` columns may be missing in a line, `more` are additional conditions."""
    keys = "old.studio_id = n.studio_id AND old.id = n.id"
    left_out = [f"(NOT line ? '{name}' OR old.{name} IS NOT DISTINCT FROM n.{name})" for name in optional]
    equal = [f"old.{name} IS NOT DISTINCT FROM n.{name}" for name in same]
    return f"""
SELECT l.place FROM jsonb_array_elements($1) WITH ORDINALITY AS l (line, place)
CROSS JOIN LATERAL jsonb_populate_record(NULL::{table}, line) n
WHERE NOT EXISTS (SELECT FROM {table} old WHERE {" AND ".join([keys, *equal, *left_out, *more])})
"""  # noqa: S608


_CREATED = "(n.created_at IS NULL OR old.created_at = n.created_at)"
_HIDDEN = ("credit_cost", "waitlist_capacity")
_PAIR = ("class_id", "member_id", "status")
_JSON = [f"old.{name} IS NOT DISTINCT FROM nullif(n.{name}, 'null')" for name in ("pause", "cancellation")]
_PROFILE = (
    "name",
    "first_name",
    "last_name",
    "email",
    "role",
    "membership_type",
    "membership_start_date",
    "membership_end_date",
)
_SALE = (
    "member_id",
    "product_id",
    "product_key",
    "product_type",
    "quantity",
    "amount_total",
    "currency",
    "refunded_amount",
    "status",
)
CHANGED: dict[type, str] = {
    wire.ImportedProduct: _changed("products", ("key", "product_type", "credits_granted")),
    wire.ImportedMember: _changed("members", _PROFILE, ("phone", "suspended"), [_CREATED]),
    wire.ImportedMembership: _changed(
        "memberships",
        ("member_id", "product_id", "status", "auto_renew"),
        ("starts_at", "ends_at"),
        [*_JSON, _CREATED, "old.state_version >= n.state_version"],
    ),
    wire.ImportedPurchase: _changed("purchases", _SALE, ("location_id",), [_CREATED]),
    wire.ImportedClass: _changed(
        "classes", [column for column in WRITABLE if column not in _HIDDEN], _HIDDEN
    ),
    wire.ImportedSpot: _changed(
        "class_spots", ("class_id", "label"), (), ["old.sort_order = (line ->> 'order')::int"]
    ),
    wire.ImportedBooking: _changed(
        "bookings",
        (*_PAIR, "booking_source", "class_spot_id"),
        (),
        ["NOT old.placeholder", _CREATED, "(n.updated_at IS NULL OR old.updated_at = n.updated_at)"],
    ),
    # An export has the current position. Other files have the one at which they put the entry; those before
    # it may have left since.
    wire.ImportedEntry: _changed(
        "waitlist",
        _PAIR,
        (),
        [
            "NOT old.placeholder",
            _CREATED,
            "n.position = CASE WHEN line ? 'version' THEN old.position "
            "ELSE coalesce(old.imported_as, old.position) END",
        ],
    ),
}


async def changed(conn: Connection, kind: type, lines: Lines) -> list[int]:
    """Indexes of the changed lines, from 0."""
    return [row["place"] - 1 for row in await conn.fetch(CHANGED[kind], lines)]
