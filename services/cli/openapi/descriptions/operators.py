"""Properties that only operators and staff see. The others use the texts of the partners' reference."""

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
    "figures": "Outbox, queues and deliveries of the service.",
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
