// Generated from the OpenAPI document by `python -m clients.generate --write`. Do not edit.

import { ApiError } from "../errors.js";

/** `already_booked`: The member already has a booking for this class. */
export class AlreadyBookedError extends ApiError { override name = "AlreadyBookedError"; }
/** `already_held`: A seat in this class is already held for the member. */
export class AlreadyHeldError extends ApiError { override name = "AlreadyHeldError"; }
/** `already_submitted`: This email has already submitted the form. */
export class AlreadySubmittedError extends ApiError { override name = "AlreadySubmittedError"; }
/** `already_waitlisted`: The member is already on the waitlist of this class. */
export class AlreadyWaitlistedError extends ApiError { override name = "AlreadyWaitlistedError"; }
/** `api_key_expired`: The key has expired. */
export class ApiKeyExpiredError extends ApiError { override name = "ApiKeyExpiredError"; }
/** `api_key_revoked`: The key has been revoked. */
export class ApiKeyRevokedError extends ApiError { override name = "ApiKeyRevokedError"; }
/** `body_too_large`: The body is larger than 256 KiB. */
export class BodyTooLargeError extends ApiError { override name = "BodyTooLargeError"; }
/** `booking_already_cancelled`: The booking is already cancelled. */
export class BookingAlreadyCancelledError extends ApiError { override name = "BookingAlreadyCancelledError"; }
/** `booking_not_cancellable`: The booking can no longer be cancelled. */
export class BookingNotCancellableError extends ApiError { override name = "BookingNotCancellableError"; }
/** `booking_not_held`: The booking is not held. */
export class BookingNotHeldError extends ApiError { override name = "BookingNotHeldError"; }
/** `booking_not_movable`: The booking cannot be moved. */
export class BookingNotMovableError extends ApiError { override name = "BookingNotMovableError"; }
/** `cancellation_terms_changed`: Cancelling would cost more than was accepted; nothing was cancelled. */
export class CancellationTermsChangedError extends ApiError { override name = "CancellationTermsChangedError"; }
/** `class_full`: The class is full. */
export class ClassFullError extends ApiError { override name = "ClassFullError"; }
/** `class_not_bookable`: The class cannot be booked. */
export class ClassNotBookableError extends ApiError { override name = "ClassNotBookableError"; }
/** `console_session_ended`: The session has ended; open the console with a new link. */
export class ConsoleSessionEndedError extends ApiError { override name = "ConsoleSessionEndedError"; }
/** `console_session_not_allowed`: A console session cannot create sessions; use the key itself, from a server. */
export class ConsoleSessionNotAllowedError extends ApiError { override name = "ConsoleSessionNotAllowedError"; }
/** `endpoint_disabled`: The endpoint is disabled. Enable it first. */
export class EndpointDisabledError extends ApiError { override name = "EndpointDisabledError"; }
/** `events_expired`: Events after this sequence are not kept any more. Start again with a full listing. */
export class EventsExpiredError extends ApiError { override name = "EventsExpiredError"; }
/** `form_closed`: The form has closed. */
export class FormClosedError extends ApiError { override name = "FormClosedError"; }
/** `form_not_published`: The form is not published and accepts no submissions. */
export class FormNotPublishedError extends ApiError { override name = "FormNotPublishedError"; }
/** `hold_expired`: The hold has run out, and its seat is no longer free. */
export class HoldExpiredError extends ApiError { override name = "HoldExpiredError"; }
/** `idempotency_in_progress`: A request with this Idempotency-Key is still in progress; retry with the same key. */
export class IdempotencyInProgressError extends ApiError { override name = "IdempotencyInProgressError"; }
/** `idempotency_key_reused`: The Idempotency-Key was already used with different parameters. */
export class IdempotencyKeyReusedError extends ApiError { override name = "IdempotencyKeyReusedError"; }
/** `insufficient_scope`: This request requires the scope members:write, which the key does not have. */
export class InsufficientScopeError extends ApiError { override name = "InsufficientScopeError"; }
/** `internal_error`: Something went wrong on our side. */
export class InternalError extends ApiError { override name = "InternalError"; }
/** `invalid_api_key`: The key is not valid. */
export class InvalidApiKeyError extends ApiError { override name = "InvalidApiKeyError"; }
/** `invalid_cursor`: The cursor was not issued by this list. */
export class InvalidCursorError extends ApiError { override name = "InvalidCursorError"; }
/** `invalid_state_transition`: published cannot become draft. */
export class InvalidStateTransitionError extends ApiError { override name = "InvalidStateTransitionError"; }
/** `lead_exists`: Another lead of the studio has this email. */
export class LeadExistsError extends ApiError { override name = "LeadExistsError"; }
/** `member_exists`: A member with this email already exists. */
export class MemberExistsError extends ApiError { override name = "MemberExistsError"; }
/** `member_not_eligible`: The member is not eligible for this class. */
export class MemberNotEligibleError extends ApiError { override name = "MemberNotEligibleError"; }
/** `missing_api_key`: Send the key in the header X-Service-Key. */
export class MissingApiKeyError extends ApiError { override name = "MissingApiKeyError"; }
/** `not_found`: There is no such resource. */
export class NotFoundError extends ApiError { override name = "NotFoundError"; }
/** `rate_limited`: Too many requests; wait and try again. */
export class RateLimitedError extends ApiError { override name = "RateLimitedError"; }
/** `recovery_in_progress`: A recovery of this endpoint is still running. */
export class RecoveryInProgressError extends ApiError { override name = "RecoveryInProgressError"; }
/** `same_class`: The booking is already in this class. */
export class SameClassError extends ApiError { override name = "SameClassError"; }
/** `service_unavailable`: A part of the system is unavailable; nothing was done. */
export class ServiceUnavailableError extends ApiError { override name = "ServiceUnavailableError"; }
/** `slug_taken`: Another form of the studio has this slug. */
export class SlugTakenError extends ApiError { override name = "SlugTakenError"; }
/** `spot_required`: This class requires a spot. */
export class SpotRequiredError extends ApiError { override name = "SpotRequiredError"; }
/** `spot_taken`: The spot is already taken. */
export class SpotTakenError extends ApiError { override name = "SpotTakenError"; }
/** `submission_limit_reached`: The form has reached its submission limit. */
export class SubmissionLimitReachedError extends ApiError { override name = "SubmissionLimitReachedError"; }
/** `too_many_endpoints`: This client has reached its limit of webhook endpoints. */
export class TooManyEndpointsError extends ApiError { override name = "TooManyEndpointsError"; }
/** `too_many_holds`: No more seats of this class can be held for now. */
export class TooManyHoldsError extends ApiError { override name = "TooManyHoldsError"; }
/** `too_many_waits`: The client already waits for events as often as it may at once. */
export class TooManyWaitsError extends ApiError { override name = "TooManyWaitsError"; }
/** `unsupported_api_version`: The version in X-API-Version is not supported. */
export class UnsupportedApiVersionError extends ApiError { override name = "UnsupportedApiVersionError"; }
/** `unsupported_media_type`: Send the body as JSON, with Content-Type: application/json. */
export class UnsupportedMediaTypeError extends ApiError { override name = "UnsupportedMediaTypeError"; }
/** `upstream_timeout`: There was no answer in time, so the outcome is unknown; retry with the same Idempotency-Key. */
export class UpstreamTimeoutError extends ApiError { override name = "UpstreamTimeoutError"; }
/** `validation_failed`: query.limit: Expected `int` <= 200 */
export class ValidationFailedError extends ApiError { override name = "ValidationFailedError"; }
/** `waitlist_full`: The class and its waitlist are full. */
export class WaitlistFullError extends ApiError { override name = "WaitlistFullError"; }
/** `waitlist_not_allowed`: The class is full and has no waitlist. */
export class WaitlistNotAllowedError extends ApiError { override name = "WaitlistNotAllowedError"; }

/** The class of each code. */
export const ERRORS = {
  already_booked: AlreadyBookedError,
  already_held: AlreadyHeldError,
  already_submitted: AlreadySubmittedError,
  already_waitlisted: AlreadyWaitlistedError,
  api_key_expired: ApiKeyExpiredError,
  api_key_revoked: ApiKeyRevokedError,
  body_too_large: BodyTooLargeError,
  booking_already_cancelled: BookingAlreadyCancelledError,
  booking_not_cancellable: BookingNotCancellableError,
  booking_not_held: BookingNotHeldError,
  booking_not_movable: BookingNotMovableError,
  cancellation_terms_changed: CancellationTermsChangedError,
  class_full: ClassFullError,
  class_not_bookable: ClassNotBookableError,
  console_session_ended: ConsoleSessionEndedError,
  console_session_not_allowed: ConsoleSessionNotAllowedError,
  endpoint_disabled: EndpointDisabledError,
  events_expired: EventsExpiredError,
  form_closed: FormClosedError,
  form_not_published: FormNotPublishedError,
  hold_expired: HoldExpiredError,
  idempotency_in_progress: IdempotencyInProgressError,
  idempotency_key_reused: IdempotencyKeyReusedError,
  insufficient_scope: InsufficientScopeError,
  internal_error: InternalError,
  invalid_api_key: InvalidApiKeyError,
  invalid_cursor: InvalidCursorError,
  invalid_state_transition: InvalidStateTransitionError,
  lead_exists: LeadExistsError,
  member_exists: MemberExistsError,
  member_not_eligible: MemberNotEligibleError,
  missing_api_key: MissingApiKeyError,
  not_found: NotFoundError,
  rate_limited: RateLimitedError,
  recovery_in_progress: RecoveryInProgressError,
  same_class: SameClassError,
  service_unavailable: ServiceUnavailableError,
  slug_taken: SlugTakenError,
  spot_required: SpotRequiredError,
  spot_taken: SpotTakenError,
  submission_limit_reached: SubmissionLimitReachedError,
  too_many_endpoints: TooManyEndpointsError,
  too_many_holds: TooManyHoldsError,
  too_many_waits: TooManyWaitsError,
  unsupported_api_version: UnsupportedApiVersionError,
  unsupported_media_type: UnsupportedMediaTypeError,
  upstream_timeout: UpstreamTimeoutError,
  validation_failed: ValidationFailedError,
  waitlist_full: WaitlistFullError,
  waitlist_not_allowed: WaitlistNotAllowedError,
} as const;
