"""This service's rows as import lines, referenced kinds first."""

from shared.transfer.exporting import Section, section


def money(column: str) -> str:
    """As `format_money` writes it."""
    return (
        f"(CASE WHEN {column} = round({column}, 2) THEN round({column}, 2) "
        f"ELSE trim_scale({column}) END)::text"
    )


# The policy; the rest of a studio's line is the catalog's.
STUDIOS = Section(
    "studio",
    f"""
SELECT id, late_window_minutes, {money("late_fee_amount")} AS late_fee_amount, late_fee_currency,
    forfeit_credit, NULL::timestamptz AS place FROM studios
WHERE id = $1 AND $2::timestamptz IS NULL AND $3::uuid IS NOT NULL AND $4::uuid IS NULL AND $5::text IS NULL
""",  # noqa: S608
)
SPOTS = Section(
    "class_spot",
    """
SELECT t.id, t.studio_id, t.class_id, t.label, t.sort_order AS "order", NULL::timestamptz AS place
FROM class_spots t WHERE t.studio_id = $1 AND $2::timestamptz IS NULL AND t.id > $3::uuid AND $4::uuid IS NULL
  AND $5::text IS NULL
ORDER BY t.id
""",
)
RECEIPT = f"""
(SELECT json_build_object(
        'id', c.id, 'cancelled_at', c.cancelled_at, 'reason', c.reason, 'late_cancel', c.late_cancel,
        'free_cancel_until', c.free_cancel_until, 'late_fee_amount', {money("c.late_fee_amount")},
        'late_fee_currency', c.late_fee_currency, 'late_fee_status', c.late_fee_status,
        'credits_forfeited', c.credits_forfeited, 'credits_restored', c.credits_restored)
    FROM cancellations c WHERE c.studio_id = t.studio_id AND c.booking_id = t.id)::text AS cancellation
"""  # noqa: S608
BOOKING = (
    "class_id, member_id, status, booking_source, class_spot_id, credits_charged, promoted_at, "
    f"{RECEIPT}, version, created_at, updated_at"
)


def _bookings(where: str) -> Section:
    return section(
        "booking", "bookings", BOOKING, where=where, of_person="t.member_id = $4", json=("cancellation",)
    )


SECTIONS = (
    STUDIOS,
    section(
        "member",
        "members",
        "first_name, last_name, name, email, phone, role, membership_type, membership_start_date, "
        "membership_end_date, suspended, credits, version, created_at",
        of_person="t.id = $4",
    ),
    section(
        "membership",
        "memberships",
        "member_id, product_id, status, auto_renew, state_version, pause::text AS pause, "
        "cancellation::text AS cancellation, starts_at, ends_at, created_at",
        of_person="t.member_id = $4",
        json=("pause", "cancellation"),
    ),
    section(
        "purchase",
        "purchases",
        "member_id, product_id, product_key, product_type, quantity, "
        f"{money('amount_total')} AS amount_total, currency, "
        f"{money('refunded_amount')} AS refunded_amount, status, location_id, credits_granted, version, "
        "created_at",
        of_person="t.member_id = $4",
    ),
    section(
        "class",
        "classes",
        "title, description, class_type_id, location_id, room_id, instructor_id, start_time, end_time, "
        "capacity, allow_waitlist, waitlist_capacity, credit_cost, spot_selection_mode, status, visible, "
        "version",
        position="start_time",
        # The classes of a person's bookings.
        of_person="""EXISTS (SELECT FROM bookings b
            WHERE b.studio_id = t.studio_id AND b.class_id = t.id AND b.member_id = $4
              AND NOT b.only_held)""",
    ),
    SPOTS,
    # Bookings with a seat come first: otherwise the import would give a free seat to the waitlist. Holds are
    # left out: they end in minutes.
    _bookings("t.status <> 'waitlisted' AND NOT t.only_held"),
    _bookings("t.status = 'waitlisted'"),
    section(
        "waitlist",
        "waitlist",
        "class_id, member_id, booking_id, position, status, version, created_at, updated_at",
        of_person="t.member_id = $4",
    ),
)
