"""Query parameters whose struct says nothing, by name."""

TEXTS = {
    "after_sequence": "Only events with a higher sequence.",
    "class_id": "Only those of this class.",
    "endpoint_id": "Only deliveries to this endpoint.",
    "location_id": "Only those at this location.",
    "member_id": "Only those of this member.",
    "reason": "Why, in a few words. It is stored with the cancellation.",
    "status": "Only those with this status.",
    "type": "Only events of this type.",
}
