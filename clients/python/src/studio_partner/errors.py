# Generated from the OpenAPI document by `python -m clients.generate --write`. Do not edit.
"""One exception for each code of the API."""

from ._errors import (
    ApiError,
    ConnectionFailed,
    ResyncNeeded,
    SecretLost,
    StudioPartnerError,
    WebhookVerificationError,
)

__all__ = [
    "AlreadyBookedError",
    "AlreadyHeldError",
    "AlreadySubmittedError",
    "AlreadyWaitlistedError",
    "ApiError",
    "ApiKeyExpiredError",
    "ApiKeyRevokedError",
    "BodyTooLargeError",
    "BookingAlreadyCancelledError",
    "BookingNotCancellableError",
    "BookingNotHeldError",
    "BookingNotMovableError",
    "CancellationTermsChangedError",
    "ClassFullError",
    "ClassNotBookableError",
    "ConnectionFailed",
    "ConsoleSessionEndedError",
    "ConsoleSessionNotAllowedError",
    "EndpointDisabledError",
    "EventsExpiredError",
    "FormClosedError",
    "FormNotPublishedError",
    "HoldExpiredError",
    "IdempotencyInProgressError",
    "IdempotencyKeyReusedError",
    "InsufficientScopeError",
    "InternalError",
    "InvalidApiKeyError",
    "InvalidCursorError",
    "InvalidStateTransitionError",
    "LeadExistsError",
    "MemberExistsError",
    "MemberNotEligibleError",
    "MissingApiKeyError",
    "NotFoundError",
    "RateLimitedError",
    "RecoveryInProgressError",
    "ResyncNeeded",
    "SameClassError",
    "SecretLost",
    "ServiceUnavailableError",
    "SlugTakenError",
    "SpotRequiredError",
    "SpotTakenError",
    "StudioPartnerError",
    "SubmissionLimitReachedError",
    "TooManyEndpointsError",
    "TooManyHoldsError",
    "TooManyWaitsError",
    "UnsupportedApiVersionError",
    "UnsupportedMediaTypeError",
    "UpstreamTimeoutError",
    "ValidationFailedError",
    "WaitlistFullError",
    "WaitlistNotAllowedError",
    "WebhookVerificationError",
]


class AlreadyBookedError(ApiError):
    """The member already has a booking for this class."""


class AlreadyHeldError(ApiError):
    """A seat in this class is already held for the member."""


class AlreadySubmittedError(ApiError):
    """This email has already submitted the form."""


class AlreadyWaitlistedError(ApiError):
    """The member is already on the waitlist of this class."""


class ApiKeyExpiredError(ApiError):
    """The key has expired."""


class ApiKeyRevokedError(ApiError):
    """The key has been revoked."""


class BodyTooLargeError(ApiError):
    """The body is larger than 256 KiB."""


class BookingAlreadyCancelledError(ApiError):
    """The booking is already cancelled."""


class BookingNotCancellableError(ApiError):
    """The booking can no longer be cancelled."""


class BookingNotHeldError(ApiError):
    """The booking is not held."""


class BookingNotMovableError(ApiError):
    """The booking cannot be moved."""


class CancellationTermsChangedError(ApiError):
    """Cancelling would cost more than was accepted; nothing was cancelled."""


class ClassFullError(ApiError):
    """The class is full."""


class ClassNotBookableError(ApiError):
    """The class cannot be booked."""


class ConsoleSessionEndedError(ApiError):
    """The session has ended; open the console with a new link."""


class ConsoleSessionNotAllowedError(ApiError):
    """A console session cannot create sessions; use the key itself, from a server."""


class EndpointDisabledError(ApiError):
    """The endpoint is disabled. Enable it first."""


class EventsExpiredError(ApiError):
    """Events after this sequence are not kept any more. Start again with a full listing."""


class FormClosedError(ApiError):
    """The form has closed."""


class FormNotPublishedError(ApiError):
    """The form is not published and accepts no submissions."""


class HoldExpiredError(ApiError):
    """The hold has run out, and its seat is no longer free."""


class IdempotencyInProgressError(ApiError):
    """A request with this Idempotency-Key is still in progress; retry with the same key."""


class IdempotencyKeyReusedError(ApiError):
    """The Idempotency-Key was already used with different parameters."""


class InsufficientScopeError(ApiError):
    """This request requires the scope members:write, which the key does not have."""


class InternalError(ApiError):
    """Something went wrong on our side."""


class InvalidApiKeyError(ApiError):
    """The key is not valid."""


class InvalidCursorError(ApiError):
    """The cursor was not issued by this list."""


class InvalidStateTransitionError(ApiError):
    """published cannot become draft."""


class LeadExistsError(ApiError):
    """Another lead of the studio has this email."""


class MemberExistsError(ApiError):
    """A member with this email already exists."""


class MemberNotEligibleError(ApiError):
    """The member is not eligible for this class."""


class MissingApiKeyError(ApiError):
    """Send the key in the header X-Service-Key."""


class NotFoundError(ApiError):
    """There is no such resource."""


class RateLimitedError(ApiError):
    """Too many requests; wait and try again."""


class RecoveryInProgressError(ApiError):
    """A recovery of this endpoint is still running."""


class SameClassError(ApiError):
    """The booking is already in this class."""


class ServiceUnavailableError(ApiError):
    """A part of the system is unavailable; nothing was done."""


class SlugTakenError(ApiError):
    """Another form of the studio has this slug."""


class SpotRequiredError(ApiError):
    """This class requires a spot."""


class SpotTakenError(ApiError):
    """The spot is already taken."""


class SubmissionLimitReachedError(ApiError):
    """The form has reached its submission limit."""


class TooManyEndpointsError(ApiError):
    """This client has reached its limit of webhook endpoints."""


class TooManyHoldsError(ApiError):
    """No more seats of this class can be held for now."""


class TooManyWaitsError(ApiError):
    """The client already waits for events as often as it may at once."""


class UnsupportedApiVersionError(ApiError):
    """The version in X-API-Version is not supported."""


class UnsupportedMediaTypeError(ApiError):
    """Send the body as JSON, with Content-Type: application/json."""


class UpstreamTimeoutError(ApiError):
    """There was no answer in time, so the outcome is unknown; retry with the same Idempotency-Key."""


class ValidationFailedError(ApiError):
    """query.limit: Expected `int` <= 200"""


class WaitlistFullError(ApiError):
    """The class and its waitlist are full."""


class WaitlistNotAllowedError(ApiError):
    """The class is full and has no waitlist."""


BY_CODE: dict[str, type[ApiError]] = {
    "already_booked": AlreadyBookedError,
    "already_held": AlreadyHeldError,
    "already_submitted": AlreadySubmittedError,
    "already_waitlisted": AlreadyWaitlistedError,
    "api_key_expired": ApiKeyExpiredError,
    "api_key_revoked": ApiKeyRevokedError,
    "body_too_large": BodyTooLargeError,
    "booking_already_cancelled": BookingAlreadyCancelledError,
    "booking_not_cancellable": BookingNotCancellableError,
    "booking_not_held": BookingNotHeldError,
    "booking_not_movable": BookingNotMovableError,
    "cancellation_terms_changed": CancellationTermsChangedError,
    "class_full": ClassFullError,
    "class_not_bookable": ClassNotBookableError,
    "console_session_ended": ConsoleSessionEndedError,
    "console_session_not_allowed": ConsoleSessionNotAllowedError,
    "endpoint_disabled": EndpointDisabledError,
    "events_expired": EventsExpiredError,
    "form_closed": FormClosedError,
    "form_not_published": FormNotPublishedError,
    "hold_expired": HoldExpiredError,
    "idempotency_in_progress": IdempotencyInProgressError,
    "idempotency_key_reused": IdempotencyKeyReusedError,
    "insufficient_scope": InsufficientScopeError,
    "internal_error": InternalError,
    "invalid_api_key": InvalidApiKeyError,
    "invalid_cursor": InvalidCursorError,
    "invalid_state_transition": InvalidStateTransitionError,
    "lead_exists": LeadExistsError,
    "member_exists": MemberExistsError,
    "member_not_eligible": MemberNotEligibleError,
    "missing_api_key": MissingApiKeyError,
    "not_found": NotFoundError,
    "rate_limited": RateLimitedError,
    "recovery_in_progress": RecoveryInProgressError,
    "same_class": SameClassError,
    "service_unavailable": ServiceUnavailableError,
    "slug_taken": SlugTakenError,
    "spot_required": SpotRequiredError,
    "spot_taken": SpotTakenError,
    "submission_limit_reached": SubmissionLimitReachedError,
    "too_many_endpoints": TooManyEndpointsError,
    "too_many_holds": TooManyHoldsError,
    "too_many_waits": TooManyWaitsError,
    "unsupported_api_version": UnsupportedApiVersionError,
    "unsupported_media_type": UnsupportedMediaTypeError,
    "upstream_timeout": UpstreamTimeoutError,
    "validation_failed": ValidationFailedError,
    "waitlist_full": WaitlistFullError,
    "waitlist_not_allowed": WaitlistNotAllowedError,
}
