"""Bulk upserts of classes, spots, bookings and waitlist entries, under the locks of their classes.

A waiting entry has exactly one waitlisted booking, and vice versa, after every statement list below. A line
of a waitlisted booking makes the entry, too. Until a waitlist line names it, that entry has its booking's id.
A booking keeps its class and its member: the rules below refuse other lines.
"""

from services.bookings.rules.transitions import LIVE, WITH_SEAT
from services.bookings.store.classes import WRITABLE, update_location
from services.bookings.wire import import_lines as wire
from shared.db.database import Connection
from shared.transfer.lines import Rows
from shared.transfer.refusals import Importer, Unique
from shared.transfer.tables import Table, changed_rows

_HIDDEN = ("credit_cost", "waitlist_capacity")
_CLASSES = Table(
    name="classes",
    columns=tuple(column for column in WRITABLE if column not in _HIDDEN),
    optional=("waitlist_capacity",),
    defaults={"credit_cost": "0"},
    instants=(),
)


async def write_classes(conn: Connection, rows: Rows) -> None:
    """Call it under the locks of the existing classes. Updates the location of their bookings too."""
    await _CLASSES.write(conn, rows)
    for studio_id in {row["studio_id"] for row in rows}:
        await update_location(conn, studio_id, [row["id"] for row in rows if row["studio_id"] == studio_id])


CLASSES = _CLASSES.importer(wire.ImportedClass, write=write_classes)

WRITE_SPOTS = """
INSERT INTO class_spots (studio_id, id, class_id, label, sort_order)
SELECT studio_id, id, class_id, label, "order"
FROM jsonb_to_recordset($1) AS line (studio_id uuid, id uuid, class_id uuid, label text, "order" integer)
ON CONFLICT (studio_id, id) DO UPDATE SET
    class_id = excluded.class_id, label = excluded.label, sort_order = excluded.sort_order
"""


async def write_spots(conn: Connection, rows: Rows) -> None:
    await conn.execute(WRITE_SPOTS, rows)


SPOTS = Importer(
    line=wire.ImportedSpot,
    table="class_spots",
    write=write_spots,
    changed=changed_rows(
        "class_spots", ("class_id", "label"), more=["old.sort_order = (line ->> 'order')::int"]
    ),
    refers_to={"class_id": "classes"},
)

_ELSEWHERE = "It belongs to another class or member, where it stays."
_HAS_BOOKING = "The member already has a booking in this class."
_OTHER_PAIR = "(old.class_id, old.member_id) <> (n.class_id, n.member_id)"
_NOT_RUN_OUT = "(t.status <> 'held' OR t.held_until > clock_timestamp())"
_RECEIPT = "SELECT FROM cancellations c WHERE c.studio_id = n.studio_id AND c.booking_id = n.id"
# An import cannot take a seat away, and a cancellation made here is final: its receipt has been issued.
BOOKING_RULES = {
    _ELSEWHERE: _OTHER_PAIR,
    "The booking has left the waitlist; it cannot wait again.": (
        "old.status IN ('confirmed', 'checked_in') AND n.status = 'waitlisted'"
    ),
    "The booking was cancelled here, which is final.": (
        f"old.status = 'cancelled' AND n.status <> 'cancelled' AND EXISTS ({_RECEIPT})"
    ),
    "class_spot_id names a spot of another class.": (
        "EXISTS (SELECT FROM class_spots s WHERE s.studio_id = n.studio_id AND s.id = n.class_spot_id "
        "AND s.class_id <> n.class_id)"
    ),
    "The id of its cancellation is already taken by another one.": (
        "EXISTS (SELECT FROM cancellations c WHERE c.studio_id = n.studio_id "
        f"AND c.id = (line -> 'cancellation' ->> 'id')::uuid) AND NOT EXISTS ({_RECEIPT})"
    ),
}


# A booking that a line ends gives its credits back, without a receipt: only what was cancelled here has one.
GIVE_BACK = """
UPDATE members m SET credits = m.credits + back.credits
FROM (SELECT b.studio_id, b.member_id, sum(b.credits_charged) AS credits
      FROM bookings b, jsonb_to_recordset($1) AS line (studio_id uuid, id uuid, status text)
      WHERE b.studio_id = line.studio_id AND b.id = line.id AND b.credits_charged > 0
        AND b.status NOT IN ('cancelled', 'expired') AND line.status IN ('cancelled', 'expired')
      GROUP BY b.studio_id, b.member_id) back
WHERE m.studio_id = back.studio_id AND m.id = back.member_id
"""
WRITE_BOOKINGS = """
INSERT INTO bookings (studio_id, id, class_id, member_id, location_id, status, booking_source, class_spot_id,
    created_at, updated_at, credits_charged, promoted_at, version)
SELECT n.studio_id, n.id, n.class_id, n.member_id, c.location_id, n.status, n.booking_source, n.class_spot_id,
    coalesce(n.created_at, old.created_at, clock_timestamp()),
    coalesce(n.updated_at, n.created_at, clock_timestamp()), coalesce(n.credits_charged, 0), n.promoted_at,
    coalesce(n.version, 1)
FROM jsonb_populate_recordset(NULL::bookings, $1) n
LEFT JOIN bookings old ON old.studio_id = n.studio_id AND old.id = n.id
LEFT JOIN classes c ON c.studio_id = n.studio_id AND c.id = n.class_id
ON CONFLICT (studio_id, id) DO UPDATE SET
    credits_charged = CASE WHEN bookings.status NOT IN ('cancelled', 'expired')
        AND excluded.status IN ('cancelled', 'expired') THEN 0 ELSE bookings.credits_charged END,
    status = excluded.status, booking_source = excluded.booking_source,
    class_spot_id = excluded.class_spot_id, created_at = excluded.created_at,
    only_held = bookings.only_held AND excluded.status IN ('cancelled', 'expired'),
    updated_at = excluded.updated_at, version = greatest(excluded.version, bookings.version + 1)
"""
# A receipt is issued once: an existing one stays unchanged.
RECEIPTS = """
INSERT INTO cancellations (studio_id, id, booking_id, cancelled_at, reason, late_cancel, free_cancel_until,
    late_fee_amount, late_fee_currency, late_fee_status, credits_forfeited, credits_restored)
SELECT line.studio_id, n.id, line.id, n.cancelled_at, n.reason, n.late_cancel, n.free_cancel_until,
    n.late_fee_amount, n.late_fee_currency, n.late_fee_status, n.credits_forfeited, n.credits_restored
FROM jsonb_to_recordset($1) AS line (studio_id uuid, id uuid, cancellation jsonb)
CROSS JOIN LATERAL jsonb_populate_record(NULL::cancellations, line.cancellation) n
WHERE n.id IS NOT NULL
ON CONFLICT ON CONSTRAINT cancellations_one_per_booking DO NOTHING
"""
# An entry leaves the waitlist with its booking, even if no line of its own says so.
ENTRIES_FOLLOW = """
UPDATE waitlist w SET version = w.version + 1, updated_at = clock_timestamp(), status = CASE b.status
    WHEN 'cancelled' THEN 'cancelled' WHEN 'expired' THEN 'expired' ELSE 'converted' END
FROM bookings b, jsonb_to_recordset($1) AS line (studio_id uuid, id uuid)
WHERE b.studio_id = line.studio_id AND b.id = line.id AND b.status <> 'waitlisted'
  AND w.studio_id = b.studio_id AND w.booking_id = b.id AND w.status = 'waiting'
"""
# Behind everybody else where the line names no position. A booking that waits again has its entry again.
ADD_ENTRIES = """
INSERT INTO waitlist (studio_id, id, class_id, member_id, booking_id, location_id, position, status,
    imported_as, created_at, updated_at)
SELECT b.studio_id, CASE WHEN other.id IS NULL THEN b.id ELSE gen_random_uuid() END, b.class_id, b.member_id,
    b.id, b.location_id, coalesce(line.waitlist_position, (
        SELECT count(*) FROM waitlist w WHERE w.studio_id = b.studio_id AND w.class_id = b.class_id
          AND w.status = 'waiting') + row_number() OVER (
        PARTITION BY b.studio_id, b.class_id ORDER BY b.created_at, b.id)),
    'waiting', line.waitlist_position, b.created_at, b.updated_at
FROM jsonb_to_recordset($1) AS line (studio_id uuid, id uuid, waitlist_position integer)
JOIN bookings b ON b.studio_id = line.studio_id AND b.id = line.id
LEFT JOIN waitlist other ON other.studio_id = b.studio_id AND other.id = b.id
    AND (other.class_id, other.member_id) <> (b.class_id, b.member_id)
WHERE b.status = 'waitlisted' AND NOT EXISTS (
    SELECT FROM waitlist w WHERE w.studio_id = b.studio_id AND w.class_id = b.class_id
      AND w.member_id = b.member_id AND w.status = 'waiting')
ON CONFLICT (studio_id, id) DO UPDATE SET
    booking_id = excluded.booking_id, position = excluded.position, status = 'waiting',
    imported_as = excluded.imported_as, updated_at = excluded.updated_at, version = waitlist.version + 1
"""


async def write_bookings(conn: Connection, rows: Rows) -> None:
    for statement in (
        DEFER,
        GIVE_BACK,
        WRITE_BOOKINGS,
        RECEIPTS,
        ENTRIES_FOLLOW,
        ADD_ENTRIES,
        *SETTLE,
        CHECK_NOW,
    ):
        await conn.execute(statement, *([rows] if "$1" in statement else []))


BOOKINGS = Importer(
    line=wire.ImportedBooking,
    table="bookings",
    write=write_bookings,
    changed=changed_rows(
        "bookings",
        ("class_id", "member_id", "status", "booking_source", "class_spot_id"),
        more=[
            "(n.created_at IS NULL OR old.created_at = n.created_at)",
            "(n.updated_at IS NULL OR old.updated_at = n.updated_at)",
        ],
    ),
    refers_to={"class_id": "classes", "member_id": "members", "class_spot_id": "class_spots"},
    unique=(
        Unique(
            fields=("class_id", "member_id"), statuses=tuple(LIVE), where=_NOT_RUN_OUT, reason=_HAS_BOOKING
        ),
        Unique(
            fields=("class_id", "class_spot_id"),
            statuses=tuple(WITH_SEAT),
            where=_NOT_RUN_OUT,
            exchange=True,
        ),
    ),
    rules=BOOKING_RULES,
)


ENTRY_RULES = {
    _ELSEWHERE: _OTHER_PAIR,
    "The entry has left the waitlist, which is final.": "old.status <> 'waiting' AND n.status = 'waiting'",
    # A booking that was promoted may have been moved to another class since.
    "booking_id names no booking of this class and member.": (
        "EXISTS (SELECT FROM bookings b WHERE b.studio_id = n.studio_id AND b.id = n.booking_id "
        "AND (b.member_id <> n.member_id OR b.class_id <> n.class_id AND n.status <> 'converted'))"
    ),
    _HAS_BOOKING: (
        "n.status = 'waiting' AND EXISTS (SELECT FROM bookings b WHERE b.studio_id = n.studio_id "
        "AND b.class_id = n.class_id AND b.member_id = n.member_id "
        "AND (b.status IN ('confirmed', 'checked_in') "
        "OR b.status = 'held' AND b.held_until > clock_timestamp()))"
    ),
}

# The line names the entry that its booking's line made.
DROP_MADE_ENTRIES = """
DELETE FROM waitlist w
USING jsonb_to_recordset($1) AS line (studio_id uuid, id uuid, class_id uuid, member_id uuid, status text)
WHERE line.status = 'waiting' AND w.status = 'waiting' AND w.id = w.booking_id AND w.id <> line.id
  AND w.studio_id = line.studio_id AND w.class_id = line.class_id AND w.member_id = line.member_id
"""
# For a waiting entry whose booking has no line.
ADD_BOOKINGS = """
INSERT INTO bookings (studio_id, id, class_id, member_id, location_id, status, created_at, updated_at)
SELECT n.studio_id, gen_random_uuid(), n.class_id, n.member_id, c.location_id, 'waitlisted',
    coalesce(n.created_at, clock_timestamp()), coalesce(n.updated_at, clock_timestamp())
FROM jsonb_populate_recordset(NULL::waitlist, $1) n
JOIN classes c ON c.studio_id = n.studio_id AND c.id = n.class_id
WHERE n.status = 'waiting' AND NOT EXISTS (
    SELECT FROM bookings b WHERE b.studio_id = n.studio_id AND b.class_id = n.class_id
      AND b.member_id = n.member_id AND b.status = 'waitlisted')
"""
WRITE_ENTRIES = """
INSERT INTO waitlist (studio_id, id, class_id, member_id, booking_id, location_id, position, status,
    imported_as, created_at, updated_at, version)
SELECT n.studio_id, n.id, n.class_id, n.member_id,
    CASE WHEN n.status = 'waiting' THEN b.id ELSE n.booking_id END, c.location_id, n.position, n.status,
    n.position, coalesce(n.created_at, old.created_at, clock_timestamp()),
    coalesce(n.updated_at, clock_timestamp()), coalesce(n.version, 1)
FROM jsonb_populate_recordset(NULL::waitlist, $1) n
LEFT JOIN waitlist old ON old.studio_id = n.studio_id AND old.id = n.id
LEFT JOIN classes c ON c.studio_id = n.studio_id AND c.id = n.class_id
LEFT JOIN bookings b ON b.studio_id = n.studio_id AND b.class_id = n.class_id AND b.member_id = n.member_id
    AND b.status = 'waitlisted'
ON CONFLICT (studio_id, id) DO UPDATE SET
    position = excluded.position, status = excluded.status, imported_as = excluded.imported_as,
    created_at = excluded.created_at, updated_at = excluded.updated_at,
    version = greatest(excluded.version, waitlist.version + (
        (waitlist.position, waitlist.status) <> (excluded.position, excluded.status))::int)
"""
BOOKINGS_FOLLOW = """
UPDATE bookings b SET version = b.version + 1, updated_at = clock_timestamp(), status = CASE w.status
    WHEN 'converted' THEN 'confirmed' WHEN 'expired' THEN 'expired' ELSE 'cancelled' END
FROM waitlist w, jsonb_to_recordset($1) AS line (studio_id uuid, id uuid)
WHERE w.studio_id = line.studio_id AND w.id = line.id AND w.status <> 'waiting'
  AND b.studio_id = w.studio_id AND b.id = w.booking_id AND b.status = 'waitlisted'
  AND NOT EXISTS (SELECT FROM waitlist other WHERE other.studio_id = b.studio_id
                  AND other.booking_id = b.id AND other.status = 'waiting')
"""


async def write_entries(conn: Connection, rows: Rows) -> None:
    for statement in (
        DEFER,
        DROP_MADE_ENTRIES,
        ADD_BOOKINGS,
        WRITE_ENTRIES,
        BOOKINGS_FOLLOW,
        *SETTLE,
        CHECK_NOW,
    ):
        await conn.execute(statement, *([rows] if "$1" in statement else []))


ENTRIES = Importer(
    line=wire.ImportedEntry,
    table="waitlist",
    write=write_entries,
    # An export has the current position. Other files have the one at which they put the entry; those before
    # it may have left since.
    changed=changed_rows(
        "waitlist",
        ("class_id", "member_id", "status"),
        more=[
            "(n.created_at IS NULL OR old.created_at = n.created_at)",
            "n.position = CASE WHEN line ? 'version' THEN old.position "
            "ELSE coalesce(old.imported_as, old.position) END",
        ],
    ),
    refers_to={"class_id": "classes", "member_id": "members", "booking_id": "bookings"},
    # An entry that its booking's line made has the booking's id: a waitlist line may still name it.
    unique=(
        Unique(
            fields=("class_id", "member_id"),
            statuses=("waiting",),
            where="t.id IS DISTINCT FROM t.booking_id",
            reason="The member is already on the waitlist of this class.",
        ),
    ),
    rules=ENTRY_RULES,
)


# Imported positions may clash with each other or with stored ones, so they are checked after renumbering.
DEFER = "SET CONSTRAINTS waitlist_one_per_position DEFERRED"
CHECK_NOW = "SET CONSTRAINTS waitlist_one_per_position IMMEDIATE"
# Renumbers the positions and recounts the counters. A line with a version comes from an export: it has the
# current position of its entry, and the class's own line has the version that includes it.
SETTLE = (
    """
UPDATE waitlist w SET position = dense.position, version = w.version + 1
FROM (SELECT w.studio_id, w.id, row_number() OVER (
          PARTITION BY w.studio_id, w.class_id
          ORDER BY CASE WHEN line.exported AND w.id <> w.booking_id THEN w.position ELSE w.imported_as END
              NULLS LAST, w.position, w.created_at, w.id) AS position
      FROM waitlist w
      JOIN (SELECT studio_id, class_id, bool_and(version IS NOT NULL) AS exported
            FROM jsonb_to_recordset($1) AS line (studio_id uuid, class_id uuid, version integer)
            GROUP BY studio_id, class_id) line
        ON line.studio_id = w.studio_id AND line.class_id = w.class_id
      WHERE w.status = 'waiting') dense
WHERE w.studio_id = dense.studio_id AND w.id = dense.id AND w.position <> dense.position
""",
    """
UPDATE classes c SET version = c.version + line.raised,
    booked_count = (SELECT count(*) FROM bookings b WHERE b.studio_id = c.studio_id AND b.class_id = c.id
        AND b.status IN ('confirmed', 'checked_in')),
    held_count = CASE WHEN c.held_count = 0 THEN 0 ELSE (
        SELECT count(*) FROM bookings b WHERE b.studio_id = c.studio_id AND b.class_id = c.id
        AND b.status = 'held') END,
    waitlist_count = (SELECT count(*) FROM waitlist w WHERE w.studio_id = c.studio_id AND w.class_id = c.id
        AND w.status = 'waiting')
FROM (SELECT studio_id, class_id, bool_or(version IS NULL)::integer AS raised
      FROM jsonb_to_recordset($1) AS line (studio_id uuid, class_id uuid, version integer)
      GROUP BY studio_id, class_id) line
WHERE c.studio_id = line.studio_id AND c.id = line.class_id
""",
)


# No change may leave a free seat while someone waits.
TO_RECONCILE = """
SELECT DISTINCT c.studio_id, c.id
FROM unnest($1::uuid[], $2::uuid[]) AS line (studio_id, class_id)
JOIN classes c ON c.studio_id = line.studio_id AND c.id = line.class_id
WHERE c.status = 'scheduled' AND c.waitlist_count > 0 AND c.capacity > c.booked_count + c.held_count
   OR c.status = 'cancelled' AND c.booked_count + c.held_count + c.waitlist_count > 0
   OR c.held_count > 0 AND EXISTS (
      SELECT FROM bookings b WHERE b.studio_id = c.studio_id AND b.class_id = c.id AND b.status = 'held'
        AND b.held_until > c.start_time)
ORDER BY c.studio_id, c.id
"""


async def classes_to_reconcile(conn: Connection, classes: set[tuple[str, str]]) -> list[tuple[str, str]]:
    """Those with free seats and a waitlist, cancelled ones with bookings, and those that a hold outlasts."""
    rows = await conn.fetch(TO_RECONCILE, [studio for studio, _ in classes], [id_ for _, id_ in classes])
    return [(row["studio_id"], row["id"]) for row in rows]


RUN_OUT = """
SELECT DISTINCT b.studio_id, b.class_id
FROM unnest($1::uuid[], $2::uuid[]) AS line (studio_id, class_id)
JOIN bookings b ON b.studio_id = line.studio_id AND b.class_id = line.class_id
WHERE b.status = 'held' AND b.held_until <= clock_timestamp()
ORDER BY b.studio_id, b.class_id
"""


async def classes_with_run_out_holds(
    conn: Connection, classes: set[tuple[str, str]]
) -> list[tuple[str, str]]:
    """The unique indexes know no time: an import expires these holds before it writes."""
    rows = await conn.fetch(RUN_OUT, [studio for studio, _ in classes], [id_ for _, id_ in classes])
    return [(row["studio_id"], row["class_id"]) for row in rows]


async def analyze_grown(conn: Connection) -> None:
    """After an import: otherwise bookings would scan tables that were small when they were last analyzed."""
    await conn.execute("SELECT analyze_grown()")
