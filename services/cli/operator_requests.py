"""Studios, keys, clients, staff tokens, webhooks, events and queues: a row for each command."""

from typing import Annotated, Literal

import typer

from services.cli.requests import (
    AN_ID,
    LIMIT,
    NAME,
    NEWEST,
    Argument,
    Request,
    changes_nothing,
    flag,
    option,
    required,
)
from services.cli.values import ago, ago_or_moment, an_id, comma_separated, count, duration, positive, slug

_ANY_STUDIO = option("--studio", metavar="SLUG|ID")
_IDS = Argument(
    "ids", Annotated[list[str] | None, typer.Argument(metavar="[ID ...]", help="all by default")], None
)

OPERATOR_REQUESTS = (
    Request(
        "studios create",
        "create a studio",
        "POST /studios",
        (
            NAME,
            required(option("--slug", slug)),
            required(option("--timezone", help="as Europe/Berlin", metavar="TZ")),
            option("--id", metavar="UUID"),
            flag("--test", "a test studio: its keys start with spk_test_"),
        ),
        '--name "My Studio" --slug mine --timezone Europe/Berlin',
    ),
    Request("studios list", "list studios", "GET /studios", columns=("id", "slug", "name", "timezone")),
    Request(
        "keys create",
        "issue a key; its text is shown once",
        "POST /keys",
        (
            required(_ANY_STUDIO),
            NAME,
            required(option("--scopes", comma_separated, metavar="all|a,b")),
            option(
                "--locations",
                comma_separated,
                "limit the key to these locations",
                field="location_ids",
                metavar="id,id",
            ),
            option("--client", help="the partner's integration; created if new", metavar="NAME"),
            option("--expires-in", duration, metavar="90d"),
        ),
        '--studio mine --name "Partner Inc" --scopes studio:read,schedule:read --expires-in 90d',
    ),
    # The columns that fit into 100 characters with id and prefix; `keys show` has the rest.
    Request(
        "keys list",
        "list keys",
        "GET /keys",
        (_ANY_STUDIO,),
        "--studio mine",
        ("id", "name", "prefix", "expires_at", "revoked_at"),
    ),
    Request("keys show", "show a key", "GET /keys/{id}"),
    Request(
        "keys rotate",
        "issue a second key for the same client",
        "POST /keys/{id}/rotate",
        (
            option(
                "--overlap",
                duration,
                "how long the old key stays valid, up to 7d",
                metavar="24h",
                default="24h",
            ),
        ),
        f"{AN_ID} --overlap 24h",
    ),
    Request(
        "keys revoke",
        "revoke a key for good",
        "POST /keys/{id}/revoke",
        (flag("--with-endpoints", "also disable the endpoints that the key created"),),
        f"{AN_ID} --with-endpoints",
        question="The key will be revoked for good; every gateway refuses it within two seconds.",
    ),
    Request(
        "clients list",
        "list clients",
        "GET /clients",
        (_ANY_STUDIO,),
        "--studio mine",
        ("id", "name", "studio_id", "rate", "burst", "hold_share"),
    ),
    Request(
        "clients set",
        "set a client's limits",
        "PATCH /clients/{client}",
        (
            option("--rate", float, "requests per second", metavar="N"),
            option("--burst", positive, "requests at once"),
            option("--hold-share", float, "part of a class's seats held at once, 0 to 1", metavar="N"),
        ),
        '"Partner Inc" --rate 100 --burst 400 --hold-share 0.5',
        check=lambda given: (
            "Give --rate, --burst or --hold-share." if changes_nothing(given, "client") else ""
        ),
    ),
    Request(
        "staff create",
        "issue a staff token; its text is shown once",
        "POST /studios/{studio}/staff-tokens",
        (
            NAME,
            option(
                "--role",
                Literal["staff", "manager"],
                "staff for the desk; manager also for keys, imports, erasure and staff tokens",
                default="staff",
            ),
        ),
        '--studio mine --name "Front desk" --role staff',
    ),
    Request(
        "staff list",
        "list a studio's staff tokens",
        "GET /studios/{studio}/staff-tokens",
        example="--studio mine",
        columns=("id", "name", "role", "prefix", "revoked_at"),
    ),
    Request(
        "staff revoke",
        "revoke a staff token for good",
        "POST /studios/{studio}/staff-tokens/{id}/revoke",
        question="The staff token will be revoked for good, from the next request on.",
    ),
    Request(
        "audit list",
        "list writes by operators and staff, oldest first",
        "GET /audit",
        (
            option("--since", ago, "how far back", metavar="7d", default="7d"),
            _ANY_STUDIO,
            option("--action", help="only this action", metavar="bookings.check-in"),
            option("--target", help="only what was done to this id", metavar="ID"),
            NEWEST,
            LIMIT,
        ),
        "--since 7d --newest",
        ("at", "sentence", "studio_name", "request_id"),
    ),
    Request(
        "requests list",
        "list a client's requests, newest first",
        "GET /requests",
        (
            option("--client", help="name or id", metavar="CLIENT"),
            option("--request-id", help="only this one, of any client", metavar="ID"),
            option("--status", Literal["2xx", "3xx", "4xx", "5xx"], field="status_class"),
            option("--error-code", help="only requests refused with this code", metavar="CODE"),
            _ANY_STUDIO,
            LIMIT,
        ),
        "--request-id 5e1f7c1e-6a0c-4b7d-9a41-3f2f7f9b0c55",
        ("at", "client_name", "method", "route", "status", "error_code", "duration_ms"),
        check=lambda given: (
            "" if given["client"] or given["request_id"] else "Give --client or --request-id."
        ),
    ),
    Request(
        "history",
        "show the status at each minute of the last hour",
        "GET /status/history",
        columns=("at", "outbox_waiting", "pending_deliveries", "dead_deliveries", "requests", "p95_ms"),
    ),
    Request(
        "usage",
        "list keys with their requests, errors and last use",
        "GET /usage",
        (_ANY_STUDIO, option("--since", ago, "how far back, up to 31d", metavar="7d", default="7d"), LIMIT),
        "--studio mine --since 24h",
        ("client_name", "name", "prefix", "requests", "errors", "last_used_at"),
    ),
    Request(
        "events list",
        "list a studio's events, oldest first",
        "GET /studios/{studio}/events",
        (
            option("--type", help="only events of this kind", metavar="KIND"),
            option("--after", count, "only events after this sequence number", field="after_sequence"),
            NEWEST,
            LIMIT,
        ),
        "--type booking.created",
        ("sequence", "id", "type", "created_at", "request_id"),
    ),
    Request(
        "events prune",
        "drop a studio's oldest events and their deliveries",
        "POST /studios/{studio}/events/prune",
        (required(option("--through", count, "the last sequence number that is dropped")),),
        "--through 1000 --yes",
        question="The events will be gone for good, and with them what was not delivered yet.",
    ),
    Request(
        "webhooks endpoints",
        "list endpoints",
        "GET /studios/{studio}/webhook-endpoints",
        (LIMIT,),
        columns=("id", "url", "status", "disabled_reason", "event_types"),
    ),
    Request(
        "webhooks health",
        "list endpoints with how they are doing",
        "GET /studios/{studio}/webhook-health",
        (LIMIT,),
        columns=("description", "url", "health", "failing_since", "pending", "succeeded", "failed"),
    ),
    Request(
        "webhooks deliveries",
        "list deliveries, oldest first",
        "GET /studios/{studio}/webhook-deliveries",
        (
            option("--status", Literal["pending", "succeeded", "dead"]),
            option("--endpoint", an_id, field="endpoint_id"),
            NEWEST,
            LIMIT,
        ),
        "--status dead",
        ("id", "event_type", "status", "attempt_count", "next_attempt_at", "created_at"),
    ),
    Request("webhooks retry", "retry a delivery now", "POST /studios/{studio}/webhook-deliveries/{id}/retry"),
    Request(
        "webhooks recover",
        "send again what an endpoint missed",
        "POST /studios/{studio}/webhook-endpoints/{id}/recover",
        (required(option("--since", ago_or_moment, "how far back, or since when", metavar="24h|TIME")),),
        f"{AN_ID} --since 24h",
    ),
    Request(
        "queues parked",
        "show parked messages, which may contain personal data",
        "GET /queues/{queue}/parked",
        example="webhooks.events",
        columns=("id", "topic", "reason"),
    ),
    Request(
        "queues requeue",
        "send parked messages back to their queue",
        "POST /queues/{queue}/parked/requeue",
        (_IDS,),
        "webhooks.events",
    ),
)
