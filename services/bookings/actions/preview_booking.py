"""Runs the rules of a booking without taking a lock or writing anything."""

from services.bookings.actions.decide_bookings import require_facts
from services.bookings.context import Bookings
from services.bookings.rules.booking_checks import run_checks
from services.bookings.rules.booking_decision import Refusal, WaitlistPlace, decide_booking
from services.bookings.store import claim_and_lock
from services.bookings.wire.bookings import BookingCreate
from services.bookings.wire.previews import BookingPreview, PreviewCheck
from shared.http.caller import Caller


async def preview_booking(service: Bookings, caller: Caller, body: BookingCreate) -> BookingPreview:
    async with service.db.connection() as conn:
        stored = await claim_and_lock.read_facts(conn, caller, body.class_id, body.member_id)
    facts = require_facts(stored, caller, body)
    decision = decide_booking(facts, join_waitlist=body.join_waitlist, spot_id=body.class_spot_id)
    checks = run_checks(facts, join_waitlist=body.join_waitlist, spot_id=body.class_spot_id)
    return BookingPreview(
        outcome="refused"
        if isinstance(decision, Refusal)
        else "waitlisted"
        if isinstance(decision, WaitlistPlace)
        else "confirmed",
        waitlist_position=decision.position if isinstance(decision, WaitlistPlace) else None,
        code=decision.check.code if isinstance(decision, Refusal) else None,
        checks=[
            PreviewCheck(code=check.code, passed=check.passed, details=check.details) for check in checks
        ],
    )
