"""Which lines would change something. A field that a line may leave out is compared only if it is there."""

from services.bookings.store.classes import WRITABLE
from services.bookings.wire import import_lines as wire
from shared.transfer.importing import Changed
from shared.transfer.tables import changed_rows

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
CHANGED: dict[type, Changed] = {
    wire.ImportedProduct: changed_rows("products", ("key", "product_type", "credits_granted")),
    wire.ImportedMember: changed_rows("members", _PROFILE, optional=("phone", "suspended"), more=[_CREATED]),
    wire.ImportedMembership: changed_rows(
        "memberships",
        ("member_id", "product_id", "status", "auto_renew"),
        optional=("starts_at", "ends_at"),
        more=[*_JSON, _CREATED, "old.state_version >= n.state_version"],
    ),
    wire.ImportedPurchase: changed_rows("purchases", _SALE, optional=("location_id",), more=[_CREATED]),
    wire.ImportedClass: changed_rows(
        "classes", [column for column in WRITABLE if column not in _HIDDEN], optional=_HIDDEN
    ),
    wire.ImportedSpot: changed_rows(
        "class_spots", ("class_id", "label"), more=["old.sort_order = (line ->> 'order')::int"]
    ),
    wire.ImportedBooking: changed_rows(
        "bookings",
        (*_PAIR, "booking_source", "class_spot_id"),
        more=[_CREATED, "(n.updated_at IS NULL OR old.updated_at = n.updated_at)"],
    ),
    # An export has the current position. Other files have the one at which they put the entry; those before
    # it may have left since.
    wire.ImportedEntry: changed_rows(
        "waitlist",
        _PAIR,
        more=[
            _CREATED,
            "n.position = CASE WHEN line ? 'version' THEN old.position "
            "ELSE coalesce(old.imported_as, old.position) END",
        ],
    ),
}
