"""Values for the paths of the samples: ids that every demo studio has."""

from typing import Final

from services.cli.demo.people import PACK_HOLDERS
from services.cli.demo.studio import BROOKLYN, demo_id
from services.cli.demo.timetable import (
    DELIVERY_ID,
    ENDPOINT_ID,
    EVENT_ID,
    FULL_CLASS,
    IDEMPOTENCY_KEY,
    RECOVERY_ID,
    attending,
)
from services.cli.openapi.request_examples import (
    BOOKING_ID,
    CLASS_ID,
    FORM_ID,
    LEAD_ID,
    MEMBER_ID,
    SUBMISSION_ID,
)

PATH_EXAMPLES: Final = {
    "location_id": demo_id("location", BROOKLYN),
    "room_id": demo_id("room", "brooklyn-main"),
    "class_type_id": demo_id("class_type", "flow"),
    "instructor_id": demo_id("instructor", "maya"),
    "product_id": demo_id("product", "intro-3"),
    "class_id": CLASS_ID,
    "member_id": MEMBER_ID,
    "membership_id": demo_id("membership", "Ava Bennett"),
    "booking_id": BOOKING_ID,
    "waitlist_id": demo_id("waitlist", f"{FULL_CLASS.name}/{attending(FULL_CLASS)[-1]}"),
    "key": IDEMPOTENCY_KEY,
    "purchase_id": demo_id("purchase", f"{PACK_HOLDERS[0]}/intro-3"),
    "form_id": FORM_ID,
    "submission_id": SUBMISSION_ID,
    "lead_id": LEAD_ID,
    "endpoint_id": ENDPOINT_ID,
    "delivery_id": DELIVERY_ID,
    "recovery_id": RECOVERY_ID,
    "event_id": EVENT_ID,
}
