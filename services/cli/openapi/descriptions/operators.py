"""The operators' reference: properties that only operators and staff see, and operations.

All other properties have the texts of the partners' reference.
"""

_KEY = {
    "client_id": "The client that the key belongs to.",
    "client_name": "Name of the client: the partner's integration.",
    "prefix": "The first part of the key's text, which tells it from others. It is not secret.",
    "location_ids": "The locations that the key is limited to; null for all.",
    "expires_at": "When the key expires, or null.",
    "last_used_at": "When the key was last used, to within a few seconds, or null.",
    "revoked_at": "When the key was revoked, or null.",
}
_CLASS = {
    "location_id": "Where the class takes place, or null.",
    "capacity": "How many seats the class has.",
    "waitlist_capacity": "How many people may wait; null for no limit.",
    "credit_cost": "How many credits a booking costs.",
    "visible": "Whether the class can be booked. A hidden class is still listed.",
}

TEXTS: dict[str, str] = {
    **{f"{schema}.{name}": text for schema in ("Key", "IssuedKey") for name, text in _KEY.items()},
    **{
        f"{schema}.{name}": text for schema in ("ClassCreate", "ClassChange") for name, text in _CLASS.items()
    },
    "ClassChange.status": "`scheduled` or `completed`. To cancel a class, use its own operation.",
    "reason": "The reason. Optional.",
    "rate": "Requests per second.",
    "erased": "By service, how many rows of each kind were made anonymous.",
    "lines": "How many lines were read, empty ones included.",
    "imported": "How many lines were stored.",
    "rejected_count": "How many lines were bad.",
    "rejected": "The bad lines, the first 10,000 of them.",
    "Rejected.line": "Number of the line, from 1.",
    "Rejected.reason": "What is wrong with the line.",
    "KeyCreate.location_ids": "Limit the key to these locations; null for all.",
    "KeyUsage.client_id": "The client that the key belongs to.",
    "KeyUsage.client_name": "The client's name.",
    "KeyUsage.prefix": "How the key begins; it is all that is shown of it.",
    "KeyUsage.last_used_at": "When the key was last used, or null.",
    "KeyCreate.client": "Name of the client that the key belongs to, created if new; the key's name by default.",
    "KeyCreate.expires_in": "For how many seconds the key is valid; null for no expiry.",
    "with_endpoints": "Also disable the webhook endpoints that the key created or whose URL it set.",
    "overlap": "For how many seconds the old key stays valid.",
    "test": "A test studio: its keys begin with `spk_test_`.",
    "topic": "The type of the event.",
    "ParkedRead.reason": "Why the message was parked.",
    "body": "The message itself. It may contain personal data.",
    "last_sequence": "The sequence number of the newest event, 0 before the first one.",
    "PurchaseCreate.product_id": "The product that was bought.",
    "PurchaseCreate.currency": "Three letters, such as `EUR`.",
    "PurchaseCreate.status": "A completed purchase grants its credits, once.",
    "PurchaseCreate.location_id": "Where it was bought, or null.",
    "waiting": "Messages that wait for a consumer.",
    "parked": "Messages that were set aside because they could not be processed.",
    "ids": "Only these messages; null for all.",
    "requeued": "How many messages were sent back.",
    "RosterEntry.status": "`confirmed`, `waitlisted`, `checked_in`, `no_show`, `cancelled` or `expired`.",
    "member_name": "Name of the member.",
    "member_email": "Email of the member, or null.",
    "AuditEntry.at": "When it was done, in UTC.",
    "actor": "`operator`, or the id of the staff token.",
    "action": "What was done, such as `classes.cancel`.",
    "target": "The id of what was changed or made; otherwise the name in the path, or the studio. `all` if it was "
    "several studios, `new` if the outcome of creating something is unknown.",
    "AuditEntry.request_id": "The id of the request.",
    "by": "How many numbers are skipped.",
    "studios": "How many studios were moved forward.",
    "ServiceStatus.status": "`ready`, `degraded` when requests are served but a part has a problem, `not_ready`, or "
    "`unreachable`.",
    "parts": "Each part of the service with `ok` or its problem.",
    "problem": "Why the service did not answer.",
    "figures": "Outbox, queues and deliveries of the service. Deliveries are counted up to 10,000.",
    "services": "Each service by name, the gateway included.",
    "StaffLead.status": "`new`, `contacted`, `qualified`, `converted` or `unqualified`.",
    "StaffLead.metadata": "Structured data of the studio.",
    **{
        f"{schema}.{name}": text
        for schema in ("StaffToken", "IssuedStaffToken")
        for name, text in {
            "role": "`staff` for the desk, `manager` also for keys, imports, erasure and staff tokens.",
            "prefix": "The first part of the token's text, which tells it from others. It is not secret.",
            "last_used_at": "When the token was last used, to within a minute, or null.",
            "revoked_at": "When the token was revoked, or null.",
        }.items()
    },
    "StaffTokenCreate.role": "`staff` or `manager`.",
    "suspended": "A suspended member cannot book.",
}

# What an operator has to know of an operation whose route has no description of its own.
OPERATIONS: dict[str, str] = {
    "create_studio": (
        "Every service stores its copy before the response is sent. If one is unreachable, send the request again "
        "with the same `id`."
    ),
    "list_studios": "All studios. With a staff token, its own studio.",
    "get_studio": "Name, slug, time zone and whether it is a test studio.",
    "list_clients": "A client is one partner's integration with one studio. All its keys share its rate limit.",
    "update_client": (
        "Sets the requests per second, the burst, or both. Every gateway applies them within seconds."
    ),
    "create_key": "The key is shown only once. Use the scope `all` for every scope.",
    "list_keys": "Live, expired and revoked keys, without their secrets.",
    "get_key": "Scopes, locations, expiry and last use of a key, without its secret.",
    "rotate_key": (
        "Issues a second key with the same client, scopes, locations and lifetime. The old key stays valid for "
        "`overlap` seconds, 24 hours unless set otherwise."
    ),
    "revoke_key": (
        "The key is refused at once by this gateway and within two seconds by the others. Its client's webhook "
        "endpoints stay, unless `with_endpoints` is true."
    ),
    "list_staff_tokens": "Live and revoked tokens of the studio, without their secrets.",
    "erase_member": (
        "Name, email and phone are removed from members, leads, submissions, events and deliveries; bookings and "
        "purchases stay, without the person. After the answer, no webhook with the person's data is sent. It takes "
        "three seconds if one was sent before. It cannot be undone. If it fails, repeat it: it finishes what is left."
    ),
    "erase_lead": (
        "As for a member: the member with the same email is made anonymous too. It cannot be undone. If it fails, "
        "repeat it: it finishes what is left."
    ),
    "advance_sequence": (
        "Once after a restore: no later event gets a number that a partner has already seen. Repeating it does no "
        "harm. Services that are running have numbered events already, so prefer `studioctl sequences advance "
        "--offline` before they are started."
    ),
    "get_status": (
        "The readiness of each service, the depth of its queues and the age of its outbox, and studios whose "
        "events are overdue. `studioctl status` prints it."
    ),
    "create_class": "Choose the `id` yourself to make a retry safe: a second request with it is refused.",
    "update_class": (
        "Fields that are left out stay unchanged. Seats that become free go to the waitlist in the same step."
    ),
    "cancel_class": "Every booking is cancelled without a fee, and credits are returned.",
    "check_in_booking": "Also possible before the class starts, and after a no-show.",
    "undo_check_in_booking": "The booking is confirmed again.",
    "no_show_booking": "Only once the class has started.",
    "cancel_booking": (
        "Late fee and credits follow the studio's policy, as for a partner. The receipt is the same one."
    ),
    "pause_membership": "It resumes by itself at `resumes_at`, or when it is resumed.",
    "resume_membership": "Ends a pause now.",
    "cancel_membership": "At once, or with `at_period_end` when its period ends.",
    "create_purchase": "A completed purchase grants the product's credits to the member, once.",
    "get_class": "With the number of seats that are taken and left.",
    "get_booking": "Its status, its spot and, while it waits, its position on the waitlist.",
    "get_waitlist_entry": "Its position, and whether it became a booking.",
    "list_memberships": "All memberships of one member, ended ones included.",
    "get_membership": "Its status, pause and cancellation.",
    "get_purchase": "What was bought, for how much, and what was refunded.",
    "list_members": "Oldest first. With `email`, the one member who has it.",
    "get_member": "The profile that partners see, with phone, suspension and credits.",
    "get_form": "With its fields and settings.",
    "list_submissions": "Oldest first, with all answers.",
    "get_submission": "The answers, who gave them, and whether they were reviewed.",
    "list_leads": "Oldest first. Partners never see phone, last name and notes.",
    "get_lead": "With what partners may write and never read.",
    "review_submission": "Only a pending submission can be reviewed.",
    "reject_submission": "Only a pending submission can be rejected.",
    "list_webhook_endpoints": "Endpoints of all the studio's clients, without their secrets.",
    "recover_webhook_endpoint": (
        "Sends what the endpoint should have received since then and has not. It runs in the background; use "
        "the returned id to follow its progress."
    ),
    "get_webhook_recovery": "`offered` grows while the status is `running`.",
    "list_webhook_deliveries": "Oldest first, of all the studio's endpoints. Filter by status or endpoint.",
    "retry_webhook_delivery": "With the same body and id, whatever its status. A full retry schedule begins.",
    "list_events": "In the order of their sequence numbers, at whatever location they happened.",
    "get_event_position": "Compare it with a partner's position to see how far behind the partner is.",
    "list_queues": "How many messages wait in each queue, and how many are parked.",
    "list_parked": "Messages that a consumer could not process, with the reason.",
    "requeue_parked": "Do it once the cause is fixed. Without `ids` all messages are sent back.",
}
