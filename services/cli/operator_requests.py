"""Studios, keys, clients, staff tokens, webhooks, events and queues: a row for each command."""

from typing import Annotated, Literal

import typer

from services.cli.requests import (
    AN_ID,
    ID,
    LIMIT,
    LIST,
    NAME,
    ONE,
    STUDIO,
    YES,
    Argument,
    Request,
    changes_nothing,
    flag,
    option,
    required,
)
from services.cli.values import ago, ago_or_moment, an_id, comma_separated, count, duration, positive, slug

_ANY_STUDIO = option("studio", "--studio", metavar="SLUG|ID")
_SINCE = option("since", "--since", ago, "how far back", metavar="7d", default="7d")
_CLIENT = Argument("client", Annotated[str, typer.Argument(metavar="CLIENT", help="name or id")])
_QUEUE = Argument("queue", Annotated[str, typer.Argument(metavar="QUEUE")])
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
            required(option("slug", "--slug", slug)),
            required(option("timezone", "--timezone", metavar="TZ", help="as Europe/Berlin")),
            option("id", "--id", metavar="UUID"),
            flag("test", "--test", "a test studio: its keys start with spk_test_"),
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
            required(option("scopes", "--scopes", comma_separated, metavar="all|a,b")),
            option(
                "location_ids",
                "--locations",
                comma_separated,
                "limit the key to these locations",
                metavar="id,id",
            ),
            option("client", "--client", metavar="NAME", help="the partner's integration; created if new"),
            option("expires_in", "--expires-in", duration, metavar="90d"),
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
    Request("keys show", "show a key", "GET /keys/{id}", (ID,), AN_ID),
    Request(
        "keys rotate",
        "issue a second key for the same client",
        "POST /keys/{id}/rotate",
        (
            ID,
            option(
                "overlap",
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
        (
            ID,
            flag("with_endpoints", "--with-endpoints", "also disable the endpoints that the key created"),
            YES,
        ),
        f"{AN_ID} --with-endpoints",
        question="The key will be revoked for good; every gateway refuses it within two seconds.",
    ),
    Request(
        "clients list",
        "list clients",
        "GET /clients",
        (_ANY_STUDIO,),
        "--studio mine",
        ("id", "name", "studio_id", "rate", "burst"),
    ),
    Request(
        "clients set",
        "set a client's rate limit",
        "PATCH /clients/{client}",
        (
            _CLIENT,
            option("rate", "--rate", float, "requests per second", metavar="N"),
            option("burst", "--burst", positive, "requests at once", metavar="N"),
        ),
        '"Partner Inc" --rate 100 --burst 400',
        check=lambda given: "Give --rate, --burst or both." if changes_nothing(given, "client") else "",
    ),
    Request(
        "staff create",
        "issue a staff token; its text is shown once",
        "POST /studios/{studio}/staff-tokens",
        (
            NAME,
            option(
                "role",
                "--role",
                Literal["staff", "manager"],
                "staff for the desk; manager also for keys, imports, erasure and staff tokens",
                default="staff",
            ),
            STUDIO,
        ),
        '--studio mine --name "Front desk" --role staff',
    ),
    Request(
        "staff list",
        "list a studio's staff tokens",
        "GET /studios/{studio}/staff-tokens",
        (STUDIO,),
        "--studio mine",
        ("id", "name", "role", "prefix", "revoked_at"),
    ),
    Request(
        "staff revoke",
        "revoke a staff token for good",
        "POST /studios/{studio}/staff-tokens/{id}/revoke",
        (*ONE, YES),
        AN_ID,
        question="The staff token will be revoked for good, from the next request on.",
    ),
    Request(
        "audit list",
        "list writes by operators and staff, oldest first",
        "GET /audit",
        (option("since", "--since", ago, "how far back", metavar="7d", default="7d"), LIMIT),
        "--since 7d",
        ("at", "actor", "action", "target", "request_id"),
    ),
    Request(
        "usage",
        "list keys with their requests, errors and last use",
        "GET /usage",
        (
            _ANY_STUDIO,
            option("since", "--since", ago, "how far back, up to 31d", metavar="7d", default="7d"),
            LIMIT,
        ),
        "--studio mine --since 24h",
        ("client_name", "name", "prefix", "requests", "errors", "last_used_at"),
    ),
    Request(
        "events list",
        "list a studio's events, oldest first",
        "GET /studios/{studio}/events",
        (
            option("type", "--type", metavar="KIND", help="only events of this kind"),
            option("after_sequence", "--after", count, "only events after this sequence number", metavar="N"),
            *LIST,
        ),
        "--type booking.created",
        ("sequence", "id", "type", "created_at", "request_id"),
    ),
    Request(
        "webhooks endpoints",
        "list endpoints",
        "GET /studios/{studio}/webhook-endpoints",
        LIST,
        columns=("id", "url", "status", "disabled_reason", "event_types"),
    ),
    Request(
        "webhooks deliveries",
        "list deliveries, oldest first",
        "GET /studios/{studio}/webhook-deliveries",
        (
            option("status", "--status", Literal["pending", "succeeded", "dead"]),
            option("endpoint_id", "--endpoint", an_id, metavar="ID"),
            *LIST,
        ),
        "--status dead",
        ("id", "event_type", "status", "attempt_count", "next_attempt_at", "created_at"),
    ),
    Request(
        "webhooks retry",
        "retry a delivery now",
        "POST /studios/{studio}/webhook-deliveries/{id}/retry",
        ONE,
        AN_ID,
    ),
    Request(
        "webhooks recover",
        "send again what an endpoint missed",
        "POST /studios/{studio}/webhook-endpoints/{id}/recover",
        (
            *ONE,
            required(
                option("since", "--since", ago_or_moment, "how far back, or since when", metavar="24h|TIME")
            ),
        ),
        f"{AN_ID} --since 24h",
    ),
    Request(
        "queues parked",
        "show parked messages, which may contain personal data",
        "GET /queues/{queue}/parked",
        (_QUEUE,),
        "webhooks.events",
        ("id", "topic", "reason"),
    ),
    Request(
        "queues requeue",
        "send parked messages back to their queue",
        "POST /queues/{queue}/parked/requeue",
        (_QUEUE, _IDS),
        "webhooks.events",
    ),
)
