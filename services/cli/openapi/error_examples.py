"""The `param` and `details` of each error in the examples, and messages that depend on the request."""

from services.cli.demo.timetable import RECOVERY_ID
from services.cli.openapi.request_examples import BOOKING_ID, CANCELLATION, LEAD_ID, MEMBER_ID, SUBMISSION_ID
from shared.wire import API_VERSION

ErrorFields = tuple[str | None, dict[str, object]]

TERMS = (
    "late_cancel",
    "free_cancel_until",
    "late_fee_amount",
    "late_fee_currency",
    "late_fee_status",
    "credit_forfeited",
    "credits_forfeited",
    "credits_restored",
)
_SEATS: dict[str, object] = {"capacity": 12, "booked_count": 12, "allow_waitlist": True, "waitlist_count": 2}

EXAMPLE_FIELDS: dict[str, ErrorFields] = {
    "invalid_cursor": ("cursor", {}),
    "unsupported_api_version": ("X-API-Version", {"supported": [API_VERSION]}),
    "insufficient_scope": (None, {"required_scope": "members:write", "granted_scopes": ["members:read"]}),
    "class_full": ("class_id", _SEATS),
    "waitlist_not_allowed": ("class_id", {**_SEATS, "allow_waitlist": False, "waitlist_count": 0}),
    "waitlist_full": ("class_id", _SEATS),
    "already_booked": ("member_id", {"booking_id": BOOKING_ID}),
    "already_waitlisted": ("member_id", {"booking_id": BOOKING_ID}),
    "class_not_bookable": ("class_id", {"reason": "started"}),
    "spot_required": ("class_spot_id", {}),
    "spot_taken": ("class_spot_id", {}),
    "member_not_eligible": ("member_id", {"reasons": ["no_membership_or_credits"]}),
    "booking_already_cancelled": (None, {"receipt": CANCELLATION}),
    "booking_not_cancellable": (None, {"status": "checked_in"}),
    "cancellation_terms_changed": (None, {key: CANCELLATION[key] for key in TERMS}),
    "member_exists": ("email", {"member_id": MEMBER_ID}),
    "slug_taken": ("slug", {"slug": "new-client-intake"}),
    "invalid_state_transition": (
        "status",
        {"from": "published", "to": "draft", "allowed": ["archived"]},
    ),
    "form_not_published": ("form_id", {"status": "draft"}),
    "form_closed": ("form_id", {"closes_at": "2026-08-01T00:00:00Z"}),
    "submission_limit_reached": ("form_id", {"max_submissions": 100}),
    "already_submitted": ("submitter_email", {"submission_id": SUBMISSION_ID}),
    "recovery_in_progress": (None, {"recovery_id": RECOVERY_ID}),
    "lead_exists": ("email", {"lead_id": LEAD_ID}),
}
MESSAGES: dict[str, str] = {
    "unsupported_api_version": "The version in X-API-Version is not supported.",
    "insufficient_scope": "This request requires the scope members:write, which the key does not have.",
    "invalid_state_transition": "published cannot become draft.",
}
