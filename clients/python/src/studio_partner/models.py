# Generated from the OpenAPI document by `python -m clients.generate --write`. Do not edit.
"""What the API sends and takes."""

from __future__ import annotations

from datetime import datetime
from decimal import Decimal
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Literal, NotRequired, TypeAlias, TypedDict

from msgspec import Struct

from ._values import ShownOnce, Unknown

API_VERSION = "2026-08-02"


class OpenEnum(StrEnum):
    """A value that is newer than this package is an `Unknown`."""

    @classmethod
    def _missing_(cls, value: object) -> Any:
        return Unknown(str(value))


EventKind: TypeAlias = Literal[
    "booking.held",
    "booking.created",
    "booking.confirmed",
    "booking.cancelled",
    "booking.checked_in",
    "booking.no_show",
    "booking.expired",
    "booking.rescheduled",
    "booking.updated",
    "waitlist.updated",
    "class.created",
    "class.updated",
    "class.cancelled",
    "class.full",
    "class.reopened",
    "member.created",
    "member.updated",
    "member.erased",
    "membership.created",
    "membership.updated",
    "purchase.created",
    "purchase.updated",
    "lead.created",
    "lead.updated",
    "lead.erased",
    "form.created",
    "form.updated",
    "form.submitted",
    "submission.updated",
    "studio.updated",
    "location.created",
    "location.updated",
    "room.created",
    "room.updated",
    "class_type.created",
    "class_type.updated",
    "instructor.created",
    "instructor.updated",
    "product.created",
    "product.updated",
    "webhook_endpoint.disabled",
    "webhook.test",
]


class BookingPreviewOutcome(OpenEnum):
    """The outcome of the booking if it were made now."""

    CONFIRMED = "confirmed"
    HELD = "held"
    REFUSED = "refused"
    WAITLISTED = "waitlisted"


if TYPE_CHECKING:
    AnyBookingPreviewOutcome: TypeAlias = BookingPreviewOutcome | Unknown
else:
    AnyBookingPreviewOutcome = BookingPreviewOutcome
BookingPreviewOutcomeText: TypeAlias = (
    AnyBookingPreviewOutcome | Literal["confirmed", "held", "refused", "waitlisted"]
)


class BookingReschedulePreviewOutcome(OpenEnum):
    """The outcome of the move if it were made now."""

    REFUSED = "refused"
    RESCHEDULED = "rescheduled"


if TYPE_CHECKING:
    AnyBookingReschedulePreviewOutcome: TypeAlias = BookingReschedulePreviewOutcome | Unknown
else:
    AnyBookingReschedulePreviewOutcome = BookingReschedulePreviewOutcome
BookingReschedulePreviewOutcomeText: TypeAlias = (
    AnyBookingReschedulePreviewOutcome | Literal["refused", "rescheduled"]
)


class BookingStatus(OpenEnum):
    CANCELLED = "cancelled"
    CHECKED_IN = "checked_in"
    CONFIRMED = "confirmed"
    EXPIRED = "expired"
    HELD = "held"
    NO_SHOW = "no_show"
    WAITLISTED = "waitlisted"


if TYPE_CHECKING:
    AnyBookingStatus: TypeAlias = BookingStatus | Unknown
else:
    AnyBookingStatus = BookingStatus
BookingStatusText: TypeAlias = (
    AnyBookingStatus
    | Literal["cancelled", "checked_in", "confirmed", "expired", "held", "no_show", "waitlisted"]
)


class CancellationReceiptLateFeeStatus(OpenEnum):
    """A fee is assessed, never charged, by this API."""

    ASSESSED = "assessed"
    NONE = "none"
    WAIVED = "waived"


if TYPE_CHECKING:
    AnyCancellationReceiptLateFeeStatus: TypeAlias = CancellationReceiptLateFeeStatus | Unknown
else:
    AnyCancellationReceiptLateFeeStatus = CancellationReceiptLateFeeStatus
CancellationReceiptLateFeeStatusText: TypeAlias = (
    AnyCancellationReceiptLateFeeStatus | Literal["assessed", "none", "waived"]
)


class ClassStatus(OpenEnum):
    CANCELLED = "cancelled"
    COMPLETED = "completed"
    SCHEDULED = "scheduled"


if TYPE_CHECKING:
    AnyClassStatus: TypeAlias = ClassStatus | Unknown
else:
    AnyClassStatus = ClassStatus
ClassStatusText: TypeAlias = AnyClassStatus | Literal["cancelled", "completed", "scheduled"]
ConditionalOperator: TypeAlias = Literal[
    "contains", "empty", "eq", "gt", "gte", "in", "lt", "lte", "neq", "not_contains", "not_empty", "not_in"
]


class EndpointHealthHealth(OpenEnum):
    """`healthy`, `degraded`, `failing` after two failures without a success, `disabled`, or `idle`."""

    DEGRADED = "degraded"
    DISABLED = "disabled"
    FAILING = "failing"
    HEALTHY = "healthy"
    IDLE = "idle"


if TYPE_CHECKING:
    AnyEndpointHealthHealth: TypeAlias = EndpointHealthHealth | Unknown
else:
    AnyEndpointHealthHealth = EndpointHealthHealth
EndpointHealthHealthText: TypeAlias = (
    AnyEndpointHealthHealth | Literal["degraded", "disabled", "failing", "healthy", "idle"]
)


class EndpointHealthBreaker(OpenEnum):
    """`open` while nothing is sent because the endpoint keeps failing."""

    CLOSED = "closed"
    OPEN = "open"


if TYPE_CHECKING:
    AnyEndpointHealthBreaker: TypeAlias = EndpointHealthBreaker | Unknown
else:
    AnyEndpointHealthBreaker = EndpointHealthBreaker
EndpointHealthBreakerText: TypeAlias = AnyEndpointHealthBreaker | Literal["closed", "open"]
FormFieldOptionsLayout: TypeAlias = Literal["buttons", "select"]
FormFieldType: TypeAlias = Literal[
    "address",
    "checkbox",
    "checkbox_group",
    "consent",
    "date",
    "email",
    "file_upload",
    "number",
    "phone",
    "rating",
    "section_break",
    "select",
    "signature",
    "text",
    "textarea",
]


class FormStatus(OpenEnum):
    ARCHIVED = "archived"
    DRAFT = "draft"
    PUBLISHED = "published"


if TYPE_CHECKING:
    AnyFormStatus: TypeAlias = FormStatus | Unknown
else:
    AnyFormStatus = FormStatus
FormStatusText: TypeAlias = AnyFormStatus | Literal["archived", "draft", "published"]


class IdempotencyKeyStateStatus(OpenEnum):
    """`in_progress`, `succeeded` or `refused`."""

    IN_PROGRESS = "in_progress"
    REFUSED = "refused"
    SUCCEEDED = "succeeded"


if TYPE_CHECKING:
    AnyIdempotencyKeyStateStatus: TypeAlias = IdempotencyKeyStateStatus | Unknown
else:
    AnyIdempotencyKeyStateStatus = IdempotencyKeyStateStatus
IdempotencyKeyStateStatusText: TypeAlias = (
    AnyIdempotencyKeyStateStatus | Literal["in_progress", "refused", "succeeded"]
)


class LeadStatus(OpenEnum):
    CONTACTED = "contacted"
    CONVERTED = "converted"
    NEW = "new"
    QUALIFIED = "qualified"
    UNQUALIFIED = "unqualified"


if TYPE_CHECKING:
    AnyLeadStatus: TypeAlias = LeadStatus | Unknown
else:
    AnyLeadStatus = LeadStatus
LeadStatusText: TypeAlias = (
    AnyLeadStatus | Literal["contacted", "converted", "new", "qualified", "unqualified"]
)


class LifecycleStage(OpenEnum):
    FORMER_MEMBER = "former_member"
    LEAD = "lead"
    MEMBER = "member"
    TRIAL = "trial"


if TYPE_CHECKING:
    AnyLifecycleStage: TypeAlias = LifecycleStage | Unknown
else:
    AnyLifecycleStage = LifecycleStage
LifecycleStageText: TypeAlias = AnyLifecycleStage | Literal["former_member", "lead", "member", "trial"]


class MemberRole(OpenEnum):
    """Whose profiles partners see; staff have none here."""

    LEAD = "lead"
    MEMBER = "member"
    USER = "user"


if TYPE_CHECKING:
    AnyMemberRole: TypeAlias = MemberRole | Unknown
else:
    AnyMemberRole = MemberRole
MemberRoleText: TypeAlias = AnyMemberRole | Literal["lead", "member", "user"]


class MembershipStatus(OpenEnum):
    ACTIVE = "active"
    CANCELLED = "cancelled"
    EXPIRED = "expired"
    PAST_DUE = "past_due"
    PAUSED = "paused"
    PENDING = "pending"


if TYPE_CHECKING:
    AnyMembershipStatus: TypeAlias = MembershipStatus | Unknown
else:
    AnyMembershipStatus = MembershipStatus
MembershipStatusText: TypeAlias = (
    AnyMembershipStatus | Literal["active", "cancelled", "expired", "past_due", "paused", "pending"]
)


class PurchaseStatus(OpenEnum):
    CANCELLED = "cancelled"
    COMPLETED = "completed"
    FAILED = "failed"
    PARTIALLY_REFUNDED = "partially_refunded"
    PENDING = "pending"
    REFUNDED = "refunded"


if TYPE_CHECKING:
    AnyPurchaseStatus: TypeAlias = PurchaseStatus | Unknown
else:
    AnyPurchaseStatus = PurchaseStatus
PurchaseStatusText: TypeAlias = (
    AnyPurchaseStatus
    | Literal["cancelled", "completed", "failed", "partially_refunded", "pending", "refunded"]
)


class RequestSource(OpenEnum):
    """Where the lead came from. `partner_api` by default."""

    CONSOLE = "console"
    KEY = "key"


if TYPE_CHECKING:
    AnyRequestSource: TypeAlias = RequestSource | Unknown
else:
    AnyRequestSource = RequestSource
RequestSourceText: TypeAlias = AnyRequestSource | Literal["console", "key"]


class RequestCountsWindow(OpenEnum):
    """How far back the bars reach."""

    _1H = "1h"
    _24H = "24h"
    _7D = "7d"


if TYPE_CHECKING:
    AnyRequestCountsWindow: TypeAlias = RequestCountsWindow | Unknown
else:
    AnyRequestCountsWindow = RequestCountsWindow
RequestCountsWindowText: TypeAlias = AnyRequestCountsWindow | Literal["1h", "24h", "7d"]


class SpotMode(OpenEnum):
    NONE = "none"
    OPTIONAL = "optional"
    REQUIRED = "required"


if TYPE_CHECKING:
    AnySpotMode: TypeAlias = SpotMode | Unknown
else:
    AnySpotMode = SpotMode
SpotModeText: TypeAlias = AnySpotMode | Literal["none", "optional", "required"]


class SubmissionStatus(OpenEnum):
    PENDING = "pending"
    REJECTED = "rejected"
    REVIEWED = "reviewed"


if TYPE_CHECKING:
    AnySubmissionStatus: TypeAlias = SubmissionStatus | Unknown
else:
    AnySubmissionStatus = SubmissionStatus
SubmissionStatusText: TypeAlias = AnySubmissionStatus | Literal["pending", "rejected", "reviewed"]


class WaitlistStatus(OpenEnum):
    CANCELLED = "cancelled"
    CONVERTED = "converted"
    EXPIRED = "expired"
    SKIPPED = "skipped"
    WAITING = "waiting"


if TYPE_CHECKING:
    AnyWaitlistStatus: TypeAlias = WaitlistStatus | Unknown
else:
    AnyWaitlistStatus = WaitlistStatus
WaitlistStatusText: TypeAlias = (
    AnyWaitlistStatus | Literal["cancelled", "converted", "expired", "skipped", "waiting"]
)


class WebhookDeliveryStatus(OpenEnum):
    """`pending`, `succeeded` or `dead` once the retries are used up."""

    DEAD = "dead"
    PENDING = "pending"
    SUCCEEDED = "succeeded"


if TYPE_CHECKING:
    AnyWebhookDeliveryStatus: TypeAlias = WebhookDeliveryStatus | Unknown
else:
    AnyWebhookDeliveryStatus = WebhookDeliveryStatus
WebhookDeliveryStatusText: TypeAlias = AnyWebhookDeliveryStatus | Literal["dead", "pending", "succeeded"]


class WebhookEndpointStatus(OpenEnum):
    """`enabled` or `disabled`."""

    DISABLED = "disabled"
    ENABLED = "enabled"


if TYPE_CHECKING:
    AnyWebhookEndpointStatus: TypeAlias = WebhookEndpointStatus | Unknown
else:
    AnyWebhookEndpointStatus = WebhookEndpointStatus
WebhookEndpointStatusText: TypeAlias = AnyWebhookEndpointStatus | Literal["disabled", "enabled"]


class WebhookRecoveryStatus(OpenEnum):
    """`running` or `done`."""

    DONE = "done"
    RUNNING = "running"


if TYPE_CHECKING:
    AnyWebhookRecoveryStatus: TypeAlias = WebhookRecoveryStatus | Unknown
else:
    AnyWebhookRecoveryStatus = WebhookRecoveryStatus
WebhookRecoveryStatusText: TypeAlias = AnyWebhookRecoveryStatus | Literal["done", "running"]
Scope: TypeAlias = Literal[
    "bookings:cancel",
    "bookings:read",
    "bookings:write",
    "catalog:read",
    "form_submissions:read",
    "form_submissions:write",
    "forms:read",
    "forms:write",
    "leads:read",
    "leads:write",
    "members:read",
    "members:write",
    "purchases:read",
    "schedule:read",
    "studio:read",
    "webhooks:read",
    "webhooks:write",
]
if TYPE_CHECKING:

    class ConditionalRule(TypedDict):
        """Show the field only if the controlling field's answer matches."""

        field_key: str
        """The key of the field whose answer decides."""
        op: ConditionalOperator
        """How the answer is compared with `value`."""
        value: NotRequired[Any]
        """What the answer is compared with. `empty` and `not_empty` need none."""

    class FormField(TypedDict):
        key: str
        """The stable name of the answer in submissions and rules."""
        label: str
        """The question as visitors see it."""
        type: FormFieldType
        """What kind of answer the field takes. Each kind checks its own answers."""
        required: NotRequired[bool]
        """Whether a visible field must be answered. Default: `false`."""
        placeholder: NotRequired[str | None]
        """Text shown in the empty field, or null."""
        options: NotRequired[list[Any] | None]
        """The choices of a `select`, `checkbox_group` or similar field."""
        options_layout: NotRequired[FormFieldOptionsLayout | None]
        """`select` for a list, `buttons` for buttons, or null."""
        order: NotRequired[int]
        """The place in the form; lower comes first. Default: `0`."""
        help_text: NotRequired[str | None]
        """A hint below the field, or null."""
        display_when: NotRequired[ConditionalRule | None]
        """The rule that decides whether the field is visible; null for always."""
        step_index: NotRequired[int | None]
        """The step of a form in several steps, or null."""
        signature_purpose: NotRequired[str | None]
        """What a signature is for, or null."""
        consent_policy_slug: NotRequired[str | None]
        """The policy that a consent is given to, or null."""
        consent_policy_version: NotRequired[str | None]
        """That policy's version, or null."""
        consent_label: NotRequired[str | None]
        """The text next to the consent's checkbox, or null."""
        accept: NotRequired[str | None]
        """The kinds of file that an upload takes, as in HTML's `accept`, or null for any."""
        max_file_size: NotRequired[int | None]
        """The largest file in bytes, or null."""
        multiple: NotRequired[bool | None]
        """Whether several values may be given."""
        max_rating: NotRequired[int | None]
        """The highest rating; 5 where it is null."""
        min: NotRequired[int | float | None]
        """The smallest number, or null."""
        max: NotRequired[int | float | None]
        """The largest number, or null."""

    class FormSettings(TypedDict):
        """The known keys; any other key is stored and returned."""

        confirmation_message: NotRequired[str | None]
        """Text shown after submitting."""
        redirect_url: NotRequired[str | None]
        """Where the visitor goes after submitting; https."""
        require_authentication: NotRequired[bool | None]
        """For the studio's widgets: only members who are signed in may submit."""
        notify_on_submission: NotRequired[bool | None]
        """For the studio's widgets: notify the addresses below. The API itself sends no mail."""
        notification_emails: NotRequired[list[str] | None]
        """Addresses for the studio's widgets to notify."""
        closes_at: NotRequired[str | None]
        """From this time on, submissions are refused with `form_closed`."""
        max_submissions: NotRequired[int | None]
        """After this many submissions, more are refused with `submission_limit_reached`."""
        one_submission_per_email: NotRequired[bool | None]
        """Whether a second submission with the same address is refused with `already_submitted`."""
else:
    ConditionalRule = FormField = FormSettings = dict[str, Any]


class Booking(Struct, frozen=True, kw_only=True):
    id: str
    """The resource's id. Treat it as opaque."""
    object: Literal["booking"]
    """What kind of object this is."""
    class_id: str
    """The class."""
    member_id: str
    """The member."""
    status: AnyBookingStatus
    """`held`, `confirmed`, `waitlisted`, `checked_in`, `no_show`, `cancelled` or `expired`."""
    booking_source: str | None
    """Who made the booking, such as `partner_api`, or null."""
    class_spot_id: str | None
    """The spot in the room, or null."""
    waitlist_position: int | None
    """Position on the waitlist, while waitlisted."""
    held_until: datetime | None
    """When the hold ends, while held."""
    created_at: datetime | None
    """When it was created, in UTC."""
    updated_at: datetime | None
    """When it last changed, in UTC, or null."""


class BookingPreview(Struct, frozen=True, kw_only=True):
    object: Literal["booking_preview"]
    """What kind of object this is."""
    outcome: AnyBookingPreviewOutcome
    """The outcome of the booking if it were made now."""
    waitlist_position: int | None
    """The place on the waitlist that the member would get, or null."""
    code: str | None
    """The error code that the booking would be refused with, or null."""
    checks: list[PreviewCheck]
    """Every rule that was checked, passed or not."""


class BookingReschedule(Struct, frozen=True, kw_only=True):
    id: str
    """The id of this move."""
    object: Literal["booking_reschedule"]
    """What kind of object this is."""
    booking: Booking
    """The booking. In a list, as it is now."""
    from_class_id: str | None
    """The class that it left; null if the key may not see that class."""
    at: datetime
    """When it was moved, in UTC."""
    terms: RescheduleTerms
    """What leaving the old class cost."""
    credits_charged: int
    """How many credits the new seat cost; those that came back were used first."""


class BookingReschedulePreview(Struct, frozen=True, kw_only=True):
    object: Literal["booking_reschedule_preview"]
    """What kind of object this is."""
    outcome: AnyBookingReschedulePreviewOutcome
    """The outcome of the move if it were made now."""
    code: str | None
    """The error code that the move would be refused with, or null."""
    checks: list[PreviewCheck]
    """Every rule that was checked, passed or not."""
    terms: RescheduleTerms | None
    """Null for a booking that has no seat to leave."""


class CancellationReceipt(Struct, frozen=True, kw_only=True):
    id: str | None
    """The id of the receipt; null in a preview."""
    object: Literal["booking_cancellation"]
    """What kind of object this is."""
    booking_id: str
    """The booking that was cancelled."""
    class_id: str
    """The class."""
    member_id: str
    """The member."""
    status: Literal["cancelled"]
    """Always `cancelled`."""
    cancelled_at: datetime
    """When it was cancelled, in UTC."""
    reason: str | None
    """The reason that was given, or null."""
    late_cancel: bool
    """True when it was cancelled inside the studio's late window."""
    free_cancel_until: datetime
    """Until when cancelling was free, in UTC, or null."""
    late_fee_amount: Decimal | None
    """The late fee as a decimal in text, or null. No payment is made here."""
    late_fee_currency: str | None
    """The fee's ISO 4217 currency code, or null."""
    late_fee_status: AnyCancellationReceiptLateFeeStatus
    """A fee is assessed, never charged, by this API."""
    credit_forfeited: bool
    """True when a credit was lost by cancelling late."""
    credits_forfeited: int
    """How many credits were lost."""
    credits_restored: int
    """How many credits were given back."""


class Class(Struct, frozen=True, kw_only=True):
    id: str
    """The resource's id. Treat it as opaque."""
    object: Literal["class"]
    """What kind of object this is."""
    title: str
    """The class's name as members see it."""
    description: str | None
    """Text for members, or null."""
    class_type_id: str | None
    """The class type, or null."""
    location_id: str | None
    """Where the class is held, or null. A class without a location is hidden from keys that are limited to locations."""
    room_id: str | None
    """The room, or null."""
    instructor_id: str | None
    """The instructor, or null."""
    start_time: datetime
    """When the class starts, in UTC. Bookings close then."""
    end_time: datetime
    """When the class ends, in UTC."""
    capacity: int
    """Maximum number of confirmed bookings."""
    booked_count: int
    """Confirmed and checked-in bookings."""
    available_count: int
    """For display only: booking checks again."""
    held_count: int
    """Seats that are held while somebody pays."""
    allow_waitlist: bool
    """Whether a full class has a waitlist."""
    spot_selection_mode: AnySpotMode | None
    """Whether a booking names a spot: `required`, `optional`, `none` or null for not at all."""
    status: AnyClassStatus
    """`scheduled`, `completed` or `cancelled`."""
    visible: bool
    """Hidden classes are listed but cannot be booked."""
    timezone: str
    """The IANA time zone of its location, else the studio's."""
    start_local: str
    """When it starts by the clock there, without an offset."""


class ClassSpot(Struct, frozen=True, kw_only=True):
    id: str
    """The resource's id. Treat it as opaque."""
    object: Literal["class_spot"]
    """What kind of object this is."""
    class_id: str
    """The class."""
    label: str
    """The spot's name in the room, such as `A3`."""
    order: int
    """The place in the room's order. The lowest free spot is assigned first."""
    available: bool
    """Whether the spot is free now."""


class ClassType(Struct, frozen=True, kw_only=True):
    id: str
    """The resource's id. Treat it as opaque."""
    object: Literal["class_type"]
    """What kind of object this is."""
    name: str
    """The name as the studio shows it."""
    description: str | None
    """Text for members, or null."""
    beginner_safe: bool | None
    """Whether beginners can join; null where the studio does not say."""
    recovery: bool | None
    """Whether it is a recovery class; null where the studio does not say."""


class ConsentGiven(Struct, frozen=True, kw_only=True):
    """What was shown with a consent, so that the studio can prove what was agreed to."""

    key: str
    """The consent field's key."""
    given: bool
    """Whether consent was given."""
    policy_slug: str | None
    """The policy, or null."""
    policy_version: str | None
    """The policy's version, or null."""
    label: str
    """The text that was consented to."""


class EndpointHealth(Struct, frozen=True, kw_only=True):
    """Attempts are those of the last 24 hours; deliveries are counted up to 1,000."""

    id: str
    """The endpoint's id."""
    object: Literal["webhook_health"]
    """What kind of object this is."""
    studio_id: str
    """The studio that it belongs to."""
    url: str
    """Where events are posted to; https."""
    description: str
    """Text for members, or null."""
    health: AnyEndpointHealthHealth
    """`healthy`, `degraded`, `failing` after two failures without a success, `disabled`, or `idle`."""
    failing_since: datetime | None
    """Since when every attempt has failed, or null."""
    last_error: LastError | None
    """What the last failed attempt got, while it fails, or null."""
    breaker: AnyEndpointHealthBreaker
    """`open` while nothing is sent because the endpoint keeps failing."""
    next_attempt_at: datetime | None
    """When the next attempt is due, in UTC, or null."""
    pending: int
    """Deliveries that are not made yet, counted up to 1,000."""
    dead: int
    """Deliveries that were given up, counted up to 1,000."""
    oldest_pending_at: datetime | None
    """When the oldest pending delivery was created, in UTC, or null."""
    succeeded: int
    """Attempts of the last 24 hours that succeeded."""
    failed: int
    """Attempts of the last 24 hours that failed."""
    p95_ms: float | None
    """19 of 20 of these attempts took at most about this long, in milliseconds; null for none."""
    hours: list[HealthHour]
    """The last 24 hours, oldest first."""


class EventResource(Struct, frozen=True, kw_only=True):
    """What the event is about. `version` grows with each change, so that outdated events can be ignored."""

    object: str
    """The resource's kind."""
    id: str
    """The resource's id."""
    version: int
    """Grows with each change of the resource. Ignore versions that are not newer than yours."""


class EventType(Struct, frozen=True, kw_only=True):
    object: Literal["event_type"]
    """What kind of object this is."""
    name: str
    """The event's `type`."""
    description: str
    """When the event happens."""
    scope: str | None
    """The scope that it needs, or null if it needs none."""
    schema: dict[str, Any]
    """The JSON Schema of the event."""
    example: dict[str, Any]
    """An event of this kind."""


class EventTypes(Struct, frozen=True, kw_only=True):
    """All kinds, on one page."""

    object: Literal["list"]
    """What kind of object this is."""
    data: list[EventType]
    """The rows of this page, in the list's order."""


class Form(Struct, frozen=True, kw_only=True):
    id: str
    """The resource's id. Treat it as opaque."""
    object: Literal["form"]
    """What kind of object this is."""
    title: str
    """The form's title as visitors see it."""
    slug: str
    """A short name for URLs, unique in the studio. Derived from the title if omitted."""
    description: str | None
    """Text for members, or null."""
    fields: list[FormField]
    """The fields, in the order in which they were written. On update they replace all fields."""
    settings: FormSettings
    """How the form behaves. Unknown keys are stored and returned. An update replaces all settings."""
    status: AnyFormStatus
    """`draft`, `published` or `archived`."""
    version: int
    """Grows by one with each change."""


class FormEvaluation(Struct, frozen=True, kw_only=True):
    """What submitting these answers would lead to. Nothing is stored."""

    object: Literal["form_evaluation"]
    """What kind of object this is."""
    form_id: str
    """The form."""
    form_version: int
    """The version of the form that was answered."""
    visible_fields: list[str]
    """The keys of the fields that are visible with these answers."""
    required_fields: list[str]
    """The keys of the visible fields that must be answered."""
    problems: list[ValidationProblem]
    """The problems in the answers, each with its location."""
    valid: bool
    """Whether the answers would be accepted."""


class FormSubmission(Struct, frozen=True, kw_only=True):
    id: str
    """The resource's id. Treat it as opaque."""
    object: Literal["form_submission"]
    """What kind of object this is."""
    form_id: str
    """The form."""
    submitter_email: str
    """The address of whoever submitted. A lead with the same address is linked."""
    data: dict[str, str | list[str]]
    """Answers by field key: strings or arrays of strings."""
    status: AnySubmissionStatus
    """`pending`, `reviewed` or `rejected`."""
    created_at: datetime
    """When it was created, in UTC."""
    submitter_name: str | None
    """The name of whoever submitted; may be empty."""
    form_version: int
    """The version of the form that was answered."""
    consents: list[ConsentGiven]
    """The consents that were given, with the policy and its version."""


class HealthHour(Struct, frozen=True, kw_only=True):
    at: datetime
    """When the hour begins, in UTC."""
    succeeded: int
    """Attempts that succeeded."""
    failed: int
    """Attempts that failed."""


class IdempotencyKeyState(Struct, frozen=True, kw_only=True):
    object: Literal["idempotency_key"]
    """What kind of object this is."""
    status: AnyIdempotencyKeyStateStatus
    """`in_progress`, `succeeded` or `refused`."""
    route: str | None
    """The method and the path of the write, or null while it runs."""
    http_status: int | None
    """The status of the stored response, or null while the request runs."""
    resource_id: str | None
    """What was made or changed, or null."""
    expires_at: datetime | None
    """Until when the response is replayed, in UTC, or null while the request runs."""


class Instructor(Struct, frozen=True, kw_only=True):
    """Holds no private staff data, so none can leak."""

    id: str
    """The resource's id. Treat it as opaque."""
    object: Literal["instructor"]
    """What kind of object this is."""
    name: str
    """The name as the studio shows it."""
    tagline: str
    """One line about the instructor. Empty where there is none."""
    tags: list[str]
    """Tags that the studio gave the instructor."""


class Key(Struct, frozen=True, kw_only=True):
    """The key that the request was made with."""

    id: str
    """The resource's id. Treat it as opaque."""
    object: Literal["key"]
    """What kind of object this is."""
    name: str
    """The name that the operator gave the key."""
    studio_id: str
    """The studio that it belongs to."""
    client_id: str
    """The integration that the key belongs to. Rotated keys share it."""
    scopes: list[str]
    """What the key may do."""
    location_ids: list[str] | None
    """The locations that the key is limited to; null for all."""
    expires_at: datetime | None
    """When the key stops working, in UTC, or null for never."""
    rate_limit: KeyRateLimit
    """The token bucket that all keys of the client share."""


class KeyRateLimit(Struct, frozen=True, kw_only=True):
    requests_per_second: float
    """How fast the bucket refills."""
    burst: int
    """How many requests the full bucket holds."""


class LastError(Struct, frozen=True, kw_only=True):
    at: datetime
    """When it was attempted, in UTC."""
    response_status: int | None
    """The status of your server's response, or null if there was none."""
    response_body: str | None
    """The first 2 KiB of your server's response, or null."""
    error: str | None
    """What went wrong."""


class Lead(Struct, frozen=True, kw_only=True):
    id: str
    """The resource's id. Treat it as opaque."""
    object: Literal["lead"]
    """What kind of object this is."""
    email: str
    """The normalized address. One lead per address in a studio."""
    first_name: str
    """The first name. Empty where it is not known."""
    source: str | None
    """Where the lead came from. `partner_api` by default."""
    status: AnyLeadStatus
    """`new`, `contacted`, `qualified`, `converted` or `unqualified`."""
    lifecycle_stage: AnyLifecycleStage | None
    """`lead`, `trial`, `member`, `former_member`, or null. The server sets it."""
    metadata: dict[str, Any]
    """Structured data of the studio. `form_submissions` lists the forms that the lead has answered."""
    created_at: datetime
    """When it was created, in UTC."""


class Location(Struct, frozen=True, kw_only=True):
    id: str
    """The resource's id. Treat it as opaque."""
    object: Literal["location"]
    """What kind of object this is."""
    name: str
    """The name as the studio shows it."""
    city: str
    """The city."""
    state: str
    """The state or region."""
    timezone: str
    """The IANA time zone in which to show its times."""
    active: bool
    """False once the studio has retired it."""
    is_primary: bool
    """True for the studio's main location."""


class Member(Struct, frozen=True, kw_only=True):
    id: str
    """The resource's id. Treat it as opaque."""
    object: Literal["member"]
    """What kind of object this is."""
    name: str
    """First and last name joined."""
    first_name: str
    """The first name. Empty where it is not known."""
    last_name: str
    """The last name."""
    email: str | None
    """The email address, trimmed and in lower case; null where the studio has none."""
    role: AnyMemberRole
    """`member`, `user` or `lead`."""
    membership_type: str | None
    """The kind of the current membership, such as `intro`, or null."""
    membership_start_date: datetime | None
    """When the current membership began, or null."""
    membership_end_date: datetime | None
    """When the current membership ends, or null."""
    created_at: datetime
    """When it was created, in UTC."""


class Membership(Struct, frozen=True, kw_only=True):
    id: str
    """The resource's id. Treat it as opaque."""
    object: Literal["membership"]
    """What kind of object this is."""
    member_id: str
    """The member who holds it."""
    product_id: str
    """The product that was bought."""
    status: AnyMembershipStatus
    """`pending`, `active`, `paused`, `past_due`, `cancelled` or `expired`."""
    auto_renew: bool
    """Whether it renews after its last day."""
    state_version: int
    """Increases by one with each change."""
    pause: MembershipPause | None
    """The pause that is in effect, or null."""
    cancellation: MembershipCancellation | None
    """The cancellation that was requested or has taken effect, or null."""


class MembershipCancellation(Struct, frozen=True, kw_only=True):
    requested_at: datetime
    """When the cancellation was requested, in UTC."""
    effective_at: datetime
    """When the membership ends, in UTC."""
    at_period_end: bool
    """True if it ends with the paid period."""
    reason: str | None
    """Why it was cancelled, or null."""


class MembershipPause(Struct, frozen=True, kw_only=True):
    """Kept as JSON: whatever offset an import wrote, its instants are in UTC."""

    paused_at: datetime
    """When the pause began, in UTC."""
    resumes_at: datetime | None
    """When the membership becomes active again, or null for an open end."""
    reason: str | None
    """Why it was paused, or null."""


class MissedEvents(Struct, frozen=True, kw_only=True):
    object: Literal["missed_events"]
    """What kind of object this is."""
    count: int
    """How many events a recovery would send."""
    complete: bool
    """`false`: there are more, which were not counted."""


class MutationResult(Struct, frozen=True, kw_only=True):
    id: str
    """The resource's id. Treat it as opaque."""
    object: Literal["lead"]
    """What kind of object this is."""
    created: bool
    """True when a lead was created, false when the existing one was found."""


class OwnConsoleSession(Struct, frozen=True, kw_only=True):
    """A link into the console. It works once, within ten minutes."""

    object: Literal["console_session"]
    """What kind of object this is."""
    url: ShownOnce
    """The link, with its token in the fragment. It works once, within ten minutes. Null in a response that you get again."""
    expires_at: datetime
    """When the session ends, in UTC."""


class PreviewCheck(Struct, frozen=True, kw_only=True):
    code: str
    """The error code of a booking that breaks the rule."""
    passed: bool
    """Whether the rule is met."""
    details: dict[str, Any]
    """What the `details` of the error would contain."""


class Price(Struct, frozen=True, kw_only=True):
    id: str
    """The resource's id. Treat it as opaque."""
    amount: Decimal
    """The price as a decimal in text, such as `24.00`."""
    currency: str
    """ISO currency code."""
    price_type: str
    """`one_time` or `recurring`."""
    interval: str
    """Cadence of a recurring price; empty for a one-time price."""
    default: bool
    """True for the price that the studio offers first."""
    active: bool
    """False once the studio has retired it."""


class Product(Struct, frozen=True, kw_only=True):
    id: str
    """The resource's id. Treat it as opaque."""
    object: Literal["product"]
    """What kind of object this is."""
    key: str
    """A stable name of the product that never changes."""
    name: str
    """The name as the studio shows it."""
    product_type: str
    """What kind of product it is, such as `package`. It does not say how it is billed."""
    active: bool
    """False once the studio has retired it."""
    client_visible: bool
    """Whether members see the product in the studio's shop."""
    credits_granted: int | None
    """Class credits that one purchase grants, or null."""
    prices: list[Price]
    """All prices of the product, active or not, the default one first."""


class Purchase(Struct, frozen=True, kw_only=True):
    id: str
    """The resource's id. Treat it as opaque."""
    object: Literal["purchase"]
    """What kind of object this is."""
    member_id: str
    """The member who bought it."""
    product_id: str | None
    """The product, or null when the purchase is not linked to one."""
    product_key: str
    """The product's key at the time of the purchase."""
    product_type: str
    """What kind of product it is, such as `package`. It does not say how it is billed."""
    quantity: int
    """How many were bought."""
    amount_total: Decimal | None
    """The recorded total as a decimal in text, or null."""
    currency: str | None
    """The ISO 4217 currency code, or null."""
    refunded_amount: Decimal | None
    """What was refunded, as a decimal in text, or null. Refunds are not made here."""
    status: AnyPurchaseStatus | None
    """`pending`, `completed`, `failed`, `cancelled`, `partially_refunded`, `refunded`, or null."""
    created_at: datetime
    """When it was bought, in UTC."""


class Request(Struct, frozen=True, kw_only=True):
    """A request that the gateway answered. Its body, its query and the ids in its path are not stored."""

    id: str
    """The resource's id. Treat it as opaque."""
    object: Literal["request"]
    """What kind of object this is."""
    request_id: str
    """The id of the request: yours, or a generated one."""
    at: datetime
    """When it was answered, in UTC."""
    method: str
    """The HTTP method."""
    route: str | None
    """The route with placeholders instead of ids, or null if no route matched."""
    status: int
    """The status of the response."""
    error_code: str | None
    """The `code` of the error, or null."""
    duration_ms: float
    """How long the response took, in milliseconds, without the time in which it waited for an event."""
    key_id: str
    """The key that it was made with."""
    key_name: str
    """Name of the key."""
    key_prefix: str
    """How the key begins; it is all that is shown of it."""
    source: AnyRequestSource
    """Where the lead came from. `partner_api` by default."""


class RequestBar(Struct, frozen=True, kw_only=True):
    """The requests of one part of the window, by the class of their status."""

    at: datetime
    """When the bar begins, in UTC."""
    status_2xx: int
    """Requests that were answered with 2xx."""
    status_3xx: int
    """Requests that were answered with 3xx."""
    status_4xx: int
    """Requests that were answered with 4xx."""
    status_5xx: int
    """Requests that were answered with 5xx."""
    p95_ms: float | None
    """19 of 20 requests took at most about this long, in milliseconds; null for none."""


class RequestCounts(Struct, frozen=True, kw_only=True):
    object: Literal["request_counts"]
    """What kind of object this is."""
    window: AnyRequestCountsWindow
    """How far back the bars reach."""
    bar_seconds: int
    """How many seconds a bar covers."""
    p95_ms: float | None
    """19 of 20 requests took at most about this long, in milliseconds; null for none."""
    data: list[RequestBar]
    """The bars, oldest first. The last one is not over yet."""


class RescheduleTerms(Struct, frozen=True, kw_only=True):
    """What leaving the old class cost: the fields of a cancellation receipt that tell the price."""

    late_cancel: bool
    """True when the old class was left inside the studio's late window."""
    free_cancel_until: datetime
    """Until when leaving it was free, in UTC."""
    late_fee_amount: Decimal | None
    """The late fee as a decimal in text, or null. No payment is made here."""
    late_fee_currency: str | None
    """The fee's ISO 4217 currency code, or null."""
    late_fee_status: AnyCancellationReceiptLateFeeStatus
    """A fee is assessed, never charged, by this API."""
    credit_forfeited: bool
    """True when a credit was lost by leaving late."""
    credits_forfeited: int
    """How many credits were lost."""
    credits_restored: int
    """How many credits were given back."""


class Room(Struct, frozen=True, kw_only=True):
    id: str
    """The resource's id. Treat it as opaque."""
    object: Literal["room"]
    """What kind of object this is."""
    location_id: str
    """The location that the room is in."""
    name: str
    """The name as the studio shows it."""
    capacity: int
    """How many people the room holds. A class may hold fewer."""
    active: bool
    """False once the studio has retired it."""


class Studio(Struct, frozen=True, kw_only=True):
    id: str
    """The resource's id. Treat it as opaque."""
    object: Literal["studio"]
    """What kind of object this is."""
    name: str
    """The studio's name as members know it."""
    slug: str | None
    """A short name for URLs, or null."""
    timezone: str | None
    """The studio's IANA time zone, or null. Never infer it from the caller."""
    logo_url: str | None
    """Where the logo can be loaded from, or null."""
    primary_color: str | None
    """The brand color as a CSS hex value, or null."""


class ValidationProblem(Struct, frozen=True, kw_only=True):
    """One problem of a request, and its location."""

    loc: list[str | int]
    """Where the problem is: `body`, `query`, `path` or `header`, then the path to the value."""
    msg: str
    """A sentence that says what is wrong."""
    type: str
    """A stable code for the kind of problem."""


class WaitlistEntry(Struct, frozen=True, kw_only=True):
    id: str
    """The resource's id. Treat it as opaque."""
    object: Literal["waitlist"]
    """What kind of object this is."""
    class_id: str
    """The class."""
    member_id: str
    """The member."""
    position: int
    """From 1, without gaps, among those waiting. An entry that leaves keeps its last."""
    status: AnyWaitlistStatus
    """`waiting`, `converted`, `cancelled`, `expired` or `skipped`. All but the first are final."""
    converted_to_booking: bool
    """True when the entry became a confirmed booking."""


class WebhookAttempt(Struct, frozen=True, kw_only=True):
    """One request and its outcome. The request body is the event, as `GET /events/{id}` returns it."""

    at: datetime
    """When the request was sent, in UTC."""
    duration_ms: int
    """How long the request took, in milliseconds."""
    response_status: int | None
    """The status of your server's response, or null if there was none."""
    response_body: str | None
    """The first 2 KiB of your server's response, or null."""
    error: str | None
    """Why there was no response, or null."""


class WebhookAttemptWithHeaders(Struct, frozen=True, kw_only=True):
    """With the headers that sign it, and the first headers of the response."""

    at: datetime
    """When the request was sent, in UTC."""
    duration_ms: int
    """How long the request took, in milliseconds."""
    response_status: int | None
    """The status of your server's response, or null if there was none."""
    response_body: str | None
    """The first 2 KiB of your server's response, or null."""
    error: str | None
    """Why there was no response, or null."""
    request_headers: dict[str, str]
    """The headers that sign the request."""
    response_headers: dict[str, str] | None
    """The first ten headers of the response, each cut after 100 characters; null without a response."""


class WebhookDelivery(Struct, frozen=True, kw_only=True):
    """`sequence` is the `webhook-sequence` header: gap-free per endpoint."""

    id: str
    """The resource's id. Treat it as opaque."""
    object: Literal["webhook_delivery"]
    """What kind of object this is."""
    endpoint_id: str
    """The endpoint."""
    event_id: str
    """The event."""
    event_type: str
    """The event's kind."""
    sequence: int
    """The `webhook-sequence` header: it grows by one with each delivery to the endpoint."""
    status: AnyWebhookDeliveryStatus
    """`pending`, `succeeded` or `dead` once the retries are used up."""
    attempt_count: int
    """How many attempts were made."""
    next_attempt_at: datetime | None
    """When the next attempt is due, in UTC, or null."""
    created_at: datetime
    """When it was created, in UTC."""
    attempts: list[WebhookAttempt]
    """The attempts, oldest first."""


class WebhookDeliveryWithHeaders(Struct, frozen=True, kw_only=True):
    id: str
    """The resource's id. Treat it as opaque."""
    object: Literal["webhook_delivery"]
    """What kind of object this is."""
    endpoint_id: str
    """The endpoint."""
    event_id: str
    """The event."""
    event_type: str
    """The event's kind."""
    sequence: int
    """The `webhook-sequence` header: it grows by one with each delivery to the endpoint."""
    status: AnyWebhookDeliveryStatus
    """`pending`, `succeeded` or `dead` once the retries are used up."""
    attempt_count: int
    """How many attempts were made."""
    next_attempt_at: datetime | None
    """When the next attempt is due, in UTC, or null."""
    created_at: datetime
    """When it was created, in UTC."""
    attempts: list[WebhookAttemptWithHeaders]
    """The attempts, oldest first."""


class WebhookEndpoint(Struct, frozen=True, kw_only=True):
    id: str
    """The resource's id. Treat it as opaque."""
    object: Literal["webhook_endpoint"]
    """What kind of object this is."""
    url: str
    """Where events are posted to; https."""
    description: str
    """Your own note."""
    event_types: list[str]
    """The kinds of event to deliver; empty for all that the key may see."""
    status: AnyWebhookEndpointStatus
    """`enabled` or `disabled`."""
    disabled_reason: str | None
    """Why it was disabled, or null."""
    fifo: bool
    """Whether one event is delivered at a time, in order. A failing event blocks the ones after it."""
    rate_limit: float | None
    """The most attempts per second, or null for no limit."""
    key_id: str | None
    """The key that created the endpoint. Null for endpoints from before 2026-11."""
    created_at: datetime
    """When it was created, in UTC."""


class WebhookEndpointWithSecret(Struct, frozen=True, kw_only=True):
    """Only the responses to create and rotate show the secret."""

    id: str
    """The resource's id. Treat it as opaque."""
    object: Literal["webhook_endpoint"]
    """What kind of object this is."""
    url: str
    """Where events are posted to; https."""
    description: str
    """Your own note."""
    event_types: list[str]
    """The kinds of event to deliver; empty for all that the key may see."""
    status: AnyWebhookEndpointStatus
    """`enabled` or `disabled`."""
    disabled_reason: str | None
    """Why it was disabled, or null."""
    fifo: bool
    """Whether one event is delivered at a time, in order. A failing event blocks the ones after it."""
    rate_limit: float | None
    """The most attempts per second, or null for no limit."""
    key_id: str | None
    """The key that created the endpoint. Null for endpoints from before 2026-11."""
    created_at: datetime
    """When it was created, in UTC."""
    secret: ShownOnce
    """The signing secret, `whsec_` and base64. It is shown only here; null in a response that you get again."""


class WebhookRecovery(Struct, frozen=True, kw_only=True):
    id: str
    """The resource's id. Treat it as opaque."""
    object: Literal["webhook_recovery"]
    """What kind of object this is."""
    endpoint_id: str
    """The endpoint."""
    since: datetime
    """The recovery sends events from this time on."""
    status: AnyWebhookRecoveryStatus
    """`running` or `done`."""
    offered: int
    """How many events have been queued for delivery so far."""
    created_at: datetime
    """When it was created, in UTC."""


class BookingReference(Struct, frozen=True, kw_only=True):
    """An id without the resource: fetch it."""

    id: str
    object: Literal["booking"]


class WaitlistReference(Struct, frozen=True, kw_only=True):
    """An id without the resource: fetch it."""

    id: str
    object: Literal["waitlist"]


class ClassReference(Struct, frozen=True, kw_only=True):
    """An id without the resource: fetch it."""

    id: str
    object: Literal["class"]


class MemberReference(Struct, frozen=True, kw_only=True):
    """An id without the resource: fetch it."""

    id: str
    object: Literal["member"]


class MembershipReference(Struct, frozen=True, kw_only=True):
    """An id without the resource: fetch it."""

    id: str
    object: Literal["membership"]


class PurchaseReference(Struct, frozen=True, kw_only=True):
    """An id without the resource: fetch it."""

    id: str
    object: Literal["purchase"]


class LeadReference(Struct, frozen=True, kw_only=True):
    """An id without the resource: fetch it."""

    id: str
    object: Literal["lead"]


class FormReference(Struct, frozen=True, kw_only=True):
    """An id without the resource: fetch it."""

    id: str
    object: Literal["form"]
    status: str


class FormSubmissionReference(Struct, frozen=True, kw_only=True):
    """An id without the resource: fetch it."""

    id: str
    object: Literal["form_submission"]
    form_id: str


class LocationReference(Struct, frozen=True, kw_only=True):
    """An id without the resource: fetch it."""

    id: str
    object: Literal["location"]


class RoomReference(Struct, frozen=True, kw_only=True):
    """An id without the resource: fetch it."""

    id: str
    object: Literal["room"]
