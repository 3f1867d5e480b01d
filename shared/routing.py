"""The routing table of the whole partner API: method, path, scope, owning service.

A route without a scope cannot be constructed. `ANY_KEY` is for routes that every valid key may call. The
gateway checks the scope, and so does the owning service: it reads the same table, and does not start if one
of its routes is missing from it.

Below it, the operators' routes that a service answers for the gateway.
"""

from collections.abc import Collection, Iterable
from typing import Final

from msgspec import Struct

PREFIX: Final = "/partner/v1"
ANY_KEY: Final = "any valid key"
GATEWAY: Final = "gateway"
OPERATOR_PREFIX: Final = "/operator/v1"
OF_A_STUDIO: Final = "/studios/{studio}"

SCOPES: Final = (
    "studio:read",
    "schedule:read",
    "catalog:read",
    "forms:read",
    "forms:write",
    "form_submissions:read",
    "form_submissions:write",
    "leads:read",
    "leads:write",
    "members:read",
    "members:write",
    "bookings:read",
    "bookings:write",
    "bookings:cancel",
    "purchases:read",
    "webhooks:read",
    "webhooks:write",
)


class PartnerRoute(Struct, frozen=True):
    """`or_scope` is enough, too: the owner then decides by what it finds."""

    method: str
    path: str
    scope: str
    owner: str
    or_scope: str = ""

    def __post_init__(self) -> None:
        if self.scope not in SCOPES and self.scope != ANY_KEY:
            raise ValueError(f"{self.method} {self.path} names no known scope: {self.scope!r}")

    def missing_scope(self, granted: Collection[str]) -> str | None:
        if self.scope == ANY_KEY or self.scope in granted or self.or_scope in granted:
            return None
        return self.scope


class OperatorRoute(Struct, frozen=True):
    """`path` is below the operators' prefix. A POST that changes nothing `reads`; all others are audited."""

    method: str
    path: str
    owner: str = GATEWAY
    reads: bool = False

    @property
    def is_write(self) -> bool:
        return self.method != "GET" and not self.reads


def _routes(owner: str, *rows: tuple[str, str, str] | tuple[str, str, str, str]) -> Iterable[PartnerRoute]:
    return (PartnerRoute(method, path, scope, owner, *more) for method, path, scope, *more in rows)


ROUTES: Final[tuple[PartnerRoute, ...]] = (
    *_routes(
        GATEWAY,
        ("GET", "/key", ANY_KEY),
        ("GET", "/requests", ANY_KEY),
        ("GET", "/requests/counts", ANY_KEY),
        ("GET", "/idempotency-keys/{key}", ANY_KEY),
        ("POST", "/console-sessions", ANY_KEY),
    ),
    *_routes(
        "catalog",
        ("GET", "/studio", "studio:read"),
        ("GET", "/locations", "studio:read"),
        ("GET", "/locations/{location_id}", "studio:read"),
        ("GET", "/rooms", "schedule:read"),
        ("GET", "/rooms/{room_id}", "schedule:read"),
        ("GET", "/class-types", "schedule:read"),
        ("GET", "/class-types/{class_type_id}", "schedule:read"),
        ("GET", "/instructors", "schedule:read"),
        ("GET", "/instructors/{instructor_id}", "schedule:read"),
        ("GET", "/products", "catalog:read"),
        ("GET", "/products/{product_id}", "catalog:read"),
    ),
    *_routes(
        "bookings",
        ("GET", "/classes", "schedule:read"),
        ("GET", "/classes/{class_id}", "schedule:read"),
        ("GET", "/classes/{class_id}/spots", "schedule:read"),
        ("GET", "/members", "members:read"),
        ("POST", "/members", "members:write"),
        ("GET", "/members/{member_id}", "members:read"),
        ("GET", "/members/{member_id}/memberships", "members:read"),
        ("GET", "/memberships/{membership_id}", "members:read"),
        ("GET", "/bookings", "bookings:read"),
        ("POST", "/bookings", "bookings:write"),
        ("POST", "/bookings/preview", "bookings:read"),
        ("GET", "/bookings/{booking_id}", "bookings:read"),
        # `bookings:write` gives up what it has only held.
        ("DELETE", "/bookings/{booking_id}", "bookings:cancel", "bookings:write"),
        ("POST", "/bookings/{booking_id}/confirm", "bookings:write"),
        ("GET", "/bookings/{booking_id}/cancellation-preview", "bookings:read"),
        # Also needs bookings:cancel.
        ("POST", "/bookings/{booking_id}/reschedule", "bookings:write"),
        ("POST", "/bookings/{booking_id}/reschedule/preview", "bookings:read"),
        ("GET", "/bookings/{booking_id}/reschedules", "bookings:read"),
        ("GET", "/waitlist", "bookings:read"),
        ("GET", "/waitlist/{waitlist_id}", "bookings:read"),
        ("GET", "/purchases", "purchases:read"),
        ("GET", "/purchases/{purchase_id}", "purchases:read"),
    ),
    *_routes(
        "forms",
        ("GET", "/forms", "forms:read"),
        ("POST", "/forms", "forms:write"),
        ("GET", "/forms/{form_id}", "forms:read"),
        ("PUT", "/forms/{form_id}", "forms:write"),
        ("POST", "/forms/{form_id}/evaluate", "forms:read"),
        ("GET", "/forms/{form_id}/submissions", "form_submissions:read"),
        ("POST", "/forms/{form_id}/submissions", "form_submissions:write"),
        ("GET", "/forms/{form_id}/submissions/{submission_id}", "form_submissions:read"),
        ("GET", "/leads", "leads:read"),
        ("POST", "/leads", "leads:write"),
        ("GET", "/leads/{lead_id}", "leads:read"),
        ("PATCH", "/leads/{lead_id}", "leads:write"),
        ("POST", "/leads/{lead_id}/update", "leads:write"),
    ),
    *_routes(
        "webhooks",
        ("GET", "/webhook-endpoints", "webhooks:read"),
        ("POST", "/webhook-endpoints", "webhooks:write"),
        ("GET", "/webhook-endpoints/{endpoint_id}", "webhooks:read"),
        ("PATCH", "/webhook-endpoints/{endpoint_id}", "webhooks:write"),
        ("DELETE", "/webhook-endpoints/{endpoint_id}", "webhooks:write"),
        ("POST", "/webhook-endpoints/{endpoint_id}/rotate-secret", "webhooks:write"),
        ("POST", "/webhook-endpoints/{endpoint_id}/test", "webhooks:write"),
        ("POST", "/webhook-endpoints/{endpoint_id}/recover", "webhooks:write"),
        ("GET", "/webhook-endpoints/{endpoint_id}/recoveries/{recovery_id}", "webhooks:read"),
        ("GET", "/webhook-endpoints/{endpoint_id}/deliveries", "webhooks:read"),
        ("GET", "/webhook-endpoints/{endpoint_id}/missed-events", "webhooks:read"),
        ("GET", "/webhook-health", "webhooks:read"),
        ("GET", "/webhook-deliveries", "webhooks:read"),
        ("GET", "/webhook-deliveries/{delivery_id}", "webhooks:read"),
        ("POST", "/webhook-deliveries/{delivery_id}/retry", "webhooks:write"),
        ("GET", "/events", "webhooks:read"),
        ("GET", "/events/{event_id}", "webhooks:read"),
        ("GET", "/event-types", "webhooks:read"),
    ),
)

_ROUTES: Final = {(route.method, route.path): route for route in ROUTES}


def partner_route(method: str, path: str) -> PartnerRoute:
    route = _ROUTES.get((method, path))
    if route is None:
        raise ValueError(f"{method} {path} is not in the routing table")
    return route


def _staff(
    owner: str, *rows: tuple[str, str], of: str = OF_A_STUDIO, reads: bool = False
) -> Iterable[OperatorRoute]:
    return (OperatorRoute(method, of + path, owner, reads) for method, path in rows)


# The service serves each of them at `/staff` and the path without its studio.
STAFF_ROUTES: Final[tuple[OperatorRoute, ...]] = (
    *_staff(
        "catalog",
        ("GET", "/locations"),
        ("GET", "/rooms"),
        ("GET", "/class-types"),
        ("GET", "/instructors"),
        ("GET", "/products"),
    ),
    *_staff(
        "bookings",
        ("GET", "/bookings"),
        ("POST", "/bookings"),
        ("GET", "/bookings/{booking_id}"),
        ("POST", "/bookings/{booking_id}/cancel"),
        ("GET", "/bookings/{booking_id}/cancellation-preview"),
        ("POST", "/bookings/{booking_id}/check-in"),
        ("POST", "/bookings/{booking_id}/no-show"),
        ("GET", "/bookings/{booking_id}/reschedules"),
        ("POST", "/bookings/{booking_id}/undo-check-in"),
        ("POST", "/bookings/{booking_id}/waive-fee"),
        ("GET", "/classes"),
        ("POST", "/classes"),
        ("GET", "/classes/{class_id}"),
        ("PATCH", "/classes/{class_id}"),
        ("POST", "/classes/{class_id}/cancel"),
        ("GET", "/classes/{class_id}/roster"),
        ("GET", "/classes/{class_id}/spots"),
        ("GET", "/members"),
        ("POST", "/members"),
        ("GET", "/members/{member_id}"),
        ("GET", "/members/{member_id}/memberships"),
        ("GET", "/memberships/{membership_id}"),
        ("POST", "/memberships/{membership_id}/cancel"),
        ("POST", "/memberships/{membership_id}/pause"),
        ("POST", "/memberships/{membership_id}/resume"),
        ("GET", "/purchases"),
        ("POST", "/purchases"),
        ("GET", "/purchases/{purchase_id}"),
        ("GET", "/waitlist"),
        ("GET", "/waitlist/{waitlist_id}"),
        ("POST", "/waitlist/{waitlist_id}/promote"),
        ("POST", "/waitlist/{waitlist_id}/skip"),
    ),
    *_staff(
        "forms",
        ("GET", "/forms"),
        ("POST", "/forms"),
        ("GET", "/forms/{form_id}"),
        ("PUT", "/forms/{form_id}"),
        ("GET", "/forms/{form_id}/submissions"),
        ("POST", "/forms/{form_id}/submissions"),
        ("GET", "/forms/{form_id}/submissions/{submission_id}"),
        ("POST", "/forms/{form_id}/submissions/{submission_id}/reject"),
        ("POST", "/forms/{form_id}/submissions/{submission_id}/review"),
        ("GET", "/leads"),
        ("POST", "/leads"),
        ("GET", "/leads/{lead_id}"),
        ("PATCH", "/leads/{lead_id}"),
        ("POST", "/leads/{lead_id}/update"),
    ),
    *_staff("forms", ("POST", "/forms/{form_id}/evaluate"), reads=True),
    *_staff(
        "webhooks",
        ("GET", "/events"),
        ("GET", "/events/position"),
        ("POST", "/events/prune"),
        ("GET", "/events/{event_id}"),
        ("GET", "/webhook-deliveries"),
        ("GET", "/webhook-deliveries/{delivery_id}"),
        ("POST", "/webhook-deliveries/{delivery_id}/retry"),
        ("GET", "/webhook-endpoints"),
        ("GET", "/webhook-health"),
        ("GET", "/webhook-endpoints/{endpoint_id}/missed-events"),
        ("POST", "/webhook-endpoints/{endpoint_id}/recover"),
        ("GET", "/webhook-endpoints/{endpoint_id}/recoveries/{recovery_id}"),
    ),
    # Queues serve every studio.
    *_staff(
        "webhooks",
        ("GET", "/queues"),
        ("GET", "/queues/{queue}/parked"),
        ("POST", "/queues/{queue}/parked/requeue"),
        of="",
    ),
)
