"""Properties that have the same meaning in every schema."""

TEXTS = {
    "id": "The resource's id. Treat it as opaque.",
    "object": "What kind of object this is.",
    "data": "The rows of this page, in the list's order.",
    "has_more": "True when another page exists: send `next_cursor` back as `cursor`.",
    "next_cursor": "The cursor of the next page, to be sent back unchanged. Null on the last page.",
    "created_at": "When it was created, in UTC.",
    "studio_id": "The studio that it belongs to.",
    "class_id": "The class.",
    "member_id": "The member.",
    "email": "The email address, trimmed and in lower case.",
    "first_name": "The first name. Empty where it is not known.",
    "last_name": "The last name.",
    "phone": "A phone number with its country code, or in the studio's country without one.",
    "name": "The name as the studio shows it.",
    "description": "Text for members, or null.",
    "active": "False once the studio has retired it.",
    "timezone": "The IANA time zone in which to show its times.",
}
