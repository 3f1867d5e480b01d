// Generated from the OpenAPI document by `python -m clients.generate --write`. Do not edit.

import type { Unknown } from "../unknown.js";
import type { Event } from "./events.js";

/** What an event tells. */
export type EventKind =
  | "booking.held"
  | "booking.created"
  | "booking.confirmed"
  | "booking.cancelled"
  | "booking.checked_in"
  | "booking.no_show"
  | "booking.expired"
  | "booking.rescheduled"
  | "booking.updated"
  | "waitlist.updated"
  | "class.created"
  | "class.updated"
  | "class.cancelled"
  | "class.full"
  | "class.reopened"
  | "member.created"
  | "member.updated"
  | "member.erased"
  | "membership.created"
  | "membership.updated"
  | "purchase.created"
  | "purchase.updated"
  | "lead.created"
  | "lead.updated"
  | "lead.erased"
  | "form.created"
  | "form.updated"
  | "form.submitted"
  | "submission.updated"
  | "studio.updated"
  | "location.created"
  | "location.updated"
  | "room.created"
  | "room.updated"
  | "class_type.created"
  | "class_type.updated"
  | "instructor.created"
  | "instructor.updated"
  | "product.created"
  | "product.updated"
  | "webhook_endpoint.disabled"
  | "webhook.test";

/** The outcome of the booking if it were made now. */
export type BookingPreviewOutcome = "confirmed" | "held" | "refused" | "waitlisted";

/** The outcome of the move if it were made now. */
export type BookingReschedulePreviewOutcome = "refused" | "rescheduled";

export type BookingStatus =
  | "cancelled"
  | "checked_in"
  | "confirmed"
  | "expired"
  | "held"
  | "no_show"
  | "waitlisted";

/** A fee is assessed, never charged, by this API. */
export type CancellationReceiptLateFeeStatus = "assessed" | "none" | "waived";

export type ClassStatus = "cancelled" | "completed" | "scheduled";

export type ConditionalOperator =
  | "contains"
  | "empty"
  | "eq"
  | "gt"
  | "gte"
  | "in"
  | "lt"
  | "lte"
  | "neq"
  | "not_contains"
  | "not_empty"
  | "not_in";

/** `healthy`, `degraded`, `failing` after two failures without a success, `disabled`, or `idle`. */
export type EndpointHealthHealth = "degraded" | "disabled" | "failing" | "healthy" | "idle";

/** `open` while nothing is sent because the endpoint keeps failing. */
export type EndpointHealthBreaker = "closed" | "open";

export type FormFieldOptionsLayout = "buttons" | "select";

export type FormFieldType =
  | "address"
  | "checkbox"
  | "checkbox_group"
  | "consent"
  | "date"
  | "email"
  | "file_upload"
  | "number"
  | "phone"
  | "rating"
  | "section_break"
  | "select"
  | "signature"
  | "text"
  | "textarea";

export type FormStatus = "archived" | "draft" | "published";

/** `in_progress`, `succeeded` or `refused`. */
export type IdempotencyKeyStateStatus = "in_progress" | "refused" | "succeeded";

export type LeadStatus = "contacted" | "converted" | "new" | "qualified" | "unqualified";

export type LifecycleStage = "former_member" | "lead" | "member" | "trial";

/** Whose profiles partners see; staff have none here. */
export type MemberRole = "lead" | "member" | "user";

export type MembershipStatus = "active" | "cancelled" | "expired" | "past_due" | "paused" | "pending";

export type PurchaseStatus =
  | "cancelled"
  | "completed"
  | "failed"
  | "partially_refunded"
  | "pending"
  | "refunded";

/** Where the lead came from. `partner_api` by default. */
export type RequestSource = "console" | "key";

/** How far back the bars reach. */
export type RequestCountsWindow = "1h" | "24h" | "7d";

export type SpotMode = "none" | "optional" | "required";

export type SubmissionStatus = "pending" | "rejected" | "reviewed";

export type WaitlistStatus = "cancelled" | "converted" | "expired" | "skipped" | "waiting";

/** `pending`, `succeeded` or `dead` once the retries are used up. */
export type WebhookDeliveryStatus = "dead" | "pending" | "succeeded";

/** `enabled` or `disabled`. */
export type WebhookEndpointStatus = "disabled" | "enabled";

/** `running` or `done`. */
export type WebhookRecoveryStatus = "done" | "running";

/** What a key may do. */
export type Scope =
  | "bookings:cancel"
  | "bookings:read"
  | "bookings:write"
  | "catalog:read"
  | "form_submissions:read"
  | "form_submissions:write"
  | "forms:read"
  | "forms:write"
  | "leads:read"
  | "leads:write"
  | "members:read"
  | "members:write"
  | "purchases:read"
  | "schedule:read"
  | "studio:read"
  | "webhooks:read"
  | "webhooks:write";

export interface Booking {
  /** The resource's id. Treat it as opaque. */
  id: string;
  /** What kind of object this is. */
  object: "booking";
  /** The class. */
  class_id: string;
  /** The member. */
  member_id: string;
  /** `held`, `confirmed`, `waitlisted`, `checked_in`, `no_show`, `cancelled` or `expired`. */
  status: BookingStatus | Unknown;
  /** Who made the booking, such as `partner_api`, or null. */
  booking_source: string | null;
  /** The spot in the room, or null. */
  class_spot_id: string | null;
  /** Position on the waitlist, while waitlisted. */
  waitlist_position: number | null;
  /** When the hold ends, while held. */
  held_until: string | null;
  /** When it was created, in UTC. */
  created_at: string | null;
  /** When it last changed, in UTC, or null. */
  updated_at: string | null;
}

export interface BookingList {
  /** What kind of object this is. */
  object: "list";
  /** The rows of this page, in the list's order. */
  data: Booking[];
  /** True when another page exists: send `next_cursor` back as `cursor`. */
  has_more: boolean;
  /** The cursor of the next page, to be sent back unchanged. Null on the last page. */
  next_cursor: string | null;
}

export interface BookingPreview {
  /** What kind of object this is. */
  object: "booking_preview";
  /** The outcome of the booking if it were made now. */
  outcome: BookingPreviewOutcome | Unknown;
  /** The place on the waitlist that the member would get, or null. */
  waitlist_position: number | null;
  /** The error code that the booking would be refused with, or null. */
  code: string | null;
  /** Every rule that was checked, passed or not. */
  checks: PreviewCheck[];
}

export interface BookingReschedule {
  /** The id of this move. */
  id: string;
  /** What kind of object this is. */
  object: "booking_reschedule";
  /** The booking. In a list, as it is now. */
  booking: Booking;
  /** The class that it left; null if the key may not see that class. */
  from_class_id: string | null;
  /** When it was moved, in UTC. */
  at: string;
  /** What leaving the old class cost. */
  terms: RescheduleTerms;
  /** How many credits the new seat cost; those that came back were used first. */
  credits_charged: number;
}

export interface BookingRescheduleList {
  /** What kind of object this is. */
  object: "list";
  /** The rows of this page, in the list's order. */
  data: BookingReschedule[];
  /** True when another page exists: send `next_cursor` back as `cursor`. */
  has_more: boolean;
  /** The cursor of the next page, to be sent back unchanged. Null on the last page. */
  next_cursor: string | null;
}

export interface BookingReschedulePreview {
  /** What kind of object this is. */
  object: "booking_reschedule_preview";
  /** The outcome of the move if it were made now. */
  outcome: BookingReschedulePreviewOutcome | Unknown;
  /** The error code that the move would be refused with, or null. */
  code: string | null;
  /** Every rule that was checked, passed or not. */
  checks: PreviewCheck[];
  /** Null for a booking that has no seat to leave. */
  terms: RescheduleTerms | null;
}

export interface CancellationReceipt {
  /** The id of the receipt; null in a preview. */
  id: string | null;
  /** What kind of object this is. */
  object: "booking_cancellation";
  /** The booking that was cancelled. */
  booking_id: string;
  /** The class. */
  class_id: string;
  /** The member. */
  member_id: string;
  /** Always `cancelled`. */
  status: "cancelled";
  /** When it was cancelled, in UTC. */
  cancelled_at: string;
  /** The reason that was given, or null. */
  reason: string | null;
  /** True when it was cancelled inside the studio's late window. */
  late_cancel: boolean;
  /** Until when cancelling was free, in UTC, or null. */
  free_cancel_until: string;
  /** The late fee as a decimal in text, or null. No payment is made here. */
  late_fee_amount: string | null;
  /** The fee's ISO 4217 currency code, or null. */
  late_fee_currency: string | null;
  /** A fee is assessed, never charged, by this API. */
  late_fee_status: CancellationReceiptLateFeeStatus | Unknown;
  /** True when a credit was lost by cancelling late. */
  credit_forfeited: boolean;
  /** How many credits were lost. */
  credits_forfeited: number;
  /** How many credits were given back. */
  credits_restored: number;
}

export interface Class {
  /** The resource's id. Treat it as opaque. */
  id: string;
  /** What kind of object this is. */
  object: "class";
  /** The class's name as members see it. */
  title: string;
  /** Text for members, or null. */
  description: string | null;
  /** The class type, or null. */
  class_type_id: string | null;
  /** Where the class is held, or null. A class without a location is hidden from keys that are limited to locations. */
  location_id: string | null;
  /** The room, or null. */
  room_id: string | null;
  /** The instructor, or null. */
  instructor_id: string | null;
  /** When the class starts, in UTC. Bookings close then. */
  start_time: string;
  /** When the class ends, in UTC. */
  end_time: string;
  /** Maximum number of confirmed bookings. */
  capacity: number;
  /** Confirmed and checked-in bookings. */
  booked_count: number;
  /** For display only: booking checks again. */
  available_count: number;
  /** Seats that are held while somebody pays. */
  held_count: number;
  /** Whether a full class has a waitlist. */
  allow_waitlist: boolean;
  /** Whether a booking names a spot: `required`, `optional`, `none` or null for not at all. */
  spot_selection_mode: SpotMode | Unknown | null;
  /** `scheduled`, `completed` or `cancelled`. */
  status: ClassStatus | Unknown;
  /** Hidden classes are listed but cannot be booked. */
  visible: boolean;
  /** The IANA time zone of its location, else the studio's. */
  timezone: string;
  /** When it starts by the clock there, without an offset. */
  start_local: string;
}

export interface ClassList {
  /** What kind of object this is. */
  object: "list";
  /** The rows of this page, in the list's order. */
  data: Class[];
  /** True when another page exists: send `next_cursor` back as `cursor`. */
  has_more: boolean;
  /** The cursor of the next page, to be sent back unchanged. Null on the last page. */
  next_cursor: string | null;
}

export interface ClassSpot {
  /** The resource's id. Treat it as opaque. */
  id: string;
  /** What kind of object this is. */
  object: "class_spot";
  /** The class. */
  class_id: string;
  /** The spot's name in the room, such as `A3`. */
  label: string;
  /** The place in the room's order. The lowest free spot is assigned first. */
  order: number;
  /** Whether the spot is free now. */
  available: boolean;
}

export interface ClassSpotList {
  /** What kind of object this is. */
  object: "list";
  /** The rows of this page, in the list's order. */
  data: ClassSpot[];
  /** True when another page exists: send `next_cursor` back as `cursor`. */
  has_more: boolean;
  /** The cursor of the next page, to be sent back unchanged. Null on the last page. */
  next_cursor: string | null;
}

export interface ClassType {
  /** The resource's id. Treat it as opaque. */
  id: string;
  /** What kind of object this is. */
  object: "class_type";
  /** The name as the studio shows it. */
  name: string;
  /** Text for members, or null. */
  description: string | null;
  /** Whether beginners can join; null where the studio does not say. */
  beginner_safe: boolean | null;
  /** Whether it is a recovery class; null where the studio does not say. */
  recovery: boolean | null;
}

export interface ClassTypeList {
  /** What kind of object this is. */
  object: "list";
  /** The rows of this page, in the list's order. */
  data: ClassType[];
  /** True when another page exists: send `next_cursor` back as `cursor`. */
  has_more: boolean;
  /** The cursor of the next page, to be sent back unchanged. Null on the last page. */
  next_cursor: string | null;
}

/** Show the field only if the controlling field's answer matches. */
export interface ConditionalRule {
  /** The key of the field whose answer decides. */
  field_key: string;
  /** How the answer is compared with `value`. */
  op: ConditionalOperator | Unknown;
  /** What the answer is compared with. `empty` and `not_empty` need none. */
  value?: unknown;
  /** Other properties are stored and returned. */
  [property: string]: unknown;
}

/** What was shown with a consent, so that the studio can prove what was agreed to. */
export interface ConsentGiven {
  /** The consent field's key. */
  key: string;
  /** Whether consent was given. */
  given: boolean;
  /** The policy, or null. */
  policy_slug: string | null;
  /** The policy's version, or null. */
  policy_version: string | null;
  /** The text that was consented to. */
  label: string;
}

/** Attempts are those of the last 24 hours; deliveries are counted up to 1,000. */
export interface EndpointHealth {
  /** The endpoint's id. */
  id: string;
  /** What kind of object this is. */
  object: "webhook_health";
  /** The studio that it belongs to. */
  studio_id: string;
  /** Where events are posted to; https. */
  url: string;
  /** Text for members, or null. */
  description: string;
  /** `healthy`, `degraded`, `failing` after two failures without a success, `disabled`, or `idle`. */
  health: EndpointHealthHealth | Unknown;
  /** Since when every attempt has failed, or null. */
  failing_since: string | null;
  /** What the last failed attempt got, while it fails, or null. */
  last_error: LastError | null;
  /** `open` while nothing is sent because the endpoint keeps failing. */
  breaker: EndpointHealthBreaker | Unknown;
  /** When the next attempt is due, in UTC, or null. */
  next_attempt_at: string | null;
  /** Deliveries that are not made yet, counted up to 1,000. */
  pending: number;
  /** Deliveries that were given up, counted up to 1,000. */
  dead: number;
  /** When the oldest pending delivery was created, in UTC, or null. */
  oldest_pending_at: string | null;
  /** Attempts of the last 24 hours that succeeded. */
  succeeded: number;
  /** Attempts of the last 24 hours that failed. */
  failed: number;
  /** 19 of 20 of these attempts took at most about this long, in milliseconds; null for none. */
  p95_ms: number | null;
  /** The last 24 hours, oldest first. */
  hours: HealthHour[];
}

export interface EndpointHealthList {
  /** What kind of object this is. */
  object: "list";
  /** The rows of this page, in the list's order. */
  data: EndpointHealth[];
  /** True when another page exists: send `next_cursor` back as `cursor`. */
  has_more: boolean;
  /** The cursor of the next page, to be sent back unchanged. Null on the last page. */
  next_cursor: string | null;
}

/** For the OpenAPI document, too. */
export interface EventList {
  /** What kind of object this is. */
  object: "list";
  /** The rows of this page, in the list's order. */
  data: Event[];
  /** True when another page exists: send `next_cursor` back as `cursor`. */
  has_more: boolean;
  /** The cursor of the next page, to be sent back unchanged. Null on the last page. */
  next_cursor: string | null;
  /** The sequence of the studio's newest event when the page was read, even if the key may not see it. Read it before you list resources, and follow the events after it. */
  latest_sequence: number;
  /** The sequence of the studio's oldest event that is kept; one more than `latest_sequence` if none is. */
  oldest_sequence: number;
}

/** What the event is about. `version` grows with each change, so that outdated events can be ignored. */
export interface EventResource {
  /** The resource's kind. */
  object: string;
  /** The resource's id. */
  id: string;
  /** Grows with each change of the resource. Ignore versions that are not newer than yours. */
  version: number;
}

export interface EventType {
  /** What kind of object this is. */
  object: "event_type";
  /** The event's `type`. */
  name: string;
  /** When the event happens. */
  description: string;
  /** The scope that it needs, or null if it needs none. */
  scope: string | null;
  /** The JSON Schema of the event. */
  schema: Record<string, unknown>;
  /** An event of this kind. */
  example: Record<string, unknown>;
}

/** All kinds, on one page. */
export interface EventTypes {
  /** What kind of object this is. */
  object: "list";
  /** The rows of this page, in the list's order. */
  data: EventType[];
}

export interface Form {
  /** The resource's id. Treat it as opaque. */
  id: string;
  /** What kind of object this is. */
  object: "form";
  /** The form's title as visitors see it. */
  title: string;
  /** A short name for URLs, unique in the studio. Derived from the title if omitted. */
  slug: string;
  /** Text for members, or null. */
  description: string | null;
  /** The fields, in the order in which they were written. On update they replace all fields. */
  fields: FormField[];
  /** How the form behaves. Unknown keys are stored and returned. An update replaces all settings. */
  settings: FormSettings;
  /** `draft`, `published` or `archived`. */
  status: FormStatus | Unknown;
  /** Grows by one with each change. */
  version: number;
}

/** What submitting these answers would lead to. Nothing is stored. */
export interface FormEvaluation {
  /** What kind of object this is. */
  object: "form_evaluation";
  /** The form. */
  form_id: string;
  /** The version of the form that was answered. */
  form_version: number;
  /** The keys of the fields that are visible with these answers. */
  visible_fields: string[];
  /** The keys of the visible fields that must be answered. */
  required_fields: string[];
  /** The problems in the answers, each with its location. */
  problems: ValidationProblem[];
  /** Whether the answers would be accepted. */
  valid: boolean;
}

export interface FormField {
  /** The stable name of the answer in submissions and rules. */
  key: string;
  /** The question as visitors see it. */
  label: string;
  /** What kind of answer the field takes. Each kind checks its own answers. */
  type: FormFieldType | Unknown;
  /** Whether a visible field must be answered. Default: `false`. */
  required?: boolean;
  /** Text shown in the empty field, or null. */
  placeholder?: string | null;
  /** The choices of a `select`, `checkbox_group` or similar field. */
  options?: unknown[] | null;
  /** `select` for a list, `buttons` for buttons, or null. */
  options_layout?: FormFieldOptionsLayout | Unknown | null;
  /** The place in the form; lower comes first. Default: `0`. */
  order?: number;
  /** A hint below the field, or null. */
  help_text?: string | null;
  /** The rule that decides whether the field is visible; null for always. */
  display_when?: ConditionalRule | null;
  /** The step of a form in several steps, or null. */
  step_index?: number | null;
  /** What a signature is for, or null. */
  signature_purpose?: string | null;
  /** The policy that a consent is given to, or null. */
  consent_policy_slug?: string | null;
  /** That policy's version, or null. */
  consent_policy_version?: string | null;
  /** The text next to the consent's checkbox, or null. */
  consent_label?: string | null;
  /** The kinds of file that an upload takes, as in HTML's `accept`, or null for any. */
  accept?: string | null;
  /** The largest file in bytes, or null. */
  max_file_size?: number | null;
  /** Whether several values may be given. */
  multiple?: boolean | null;
  /** The highest rating; 5 where it is null. */
  max_rating?: number | null;
  /** The smallest number, or null. */
  min?: number | null;
  /** The largest number, or null. */
  max?: number | null;
  /** Other properties are stored and returned. */
  [property: string]: unknown;
}

export interface FormList {
  /** What kind of object this is. */
  object: "list";
  /** The rows of this page, in the list's order. */
  data: Form[];
  /** True when another page exists: send `next_cursor` back as `cursor`. */
  has_more: boolean;
  /** The cursor of the next page, to be sent back unchanged. Null on the last page. */
  next_cursor: string | null;
}

/** The known keys; any other key is stored and returned. */
export interface FormSettings {
  /** Text shown after submitting. */
  confirmation_message?: string | null;
  /** Where the visitor goes after submitting; https. */
  redirect_url?: string | null;
  /** For the studio's widgets: only members who are signed in may submit. */
  require_authentication?: boolean | null;
  /** For the studio's widgets: notify the addresses below. The API itself sends no mail. */
  notify_on_submission?: boolean | null;
  /** Addresses for the studio's widgets to notify. */
  notification_emails?: string[] | null;
  /** From this time on, submissions are refused with `form_closed`. */
  closes_at?: string | null;
  /** After this many submissions, more are refused with `submission_limit_reached`. */
  max_submissions?: number | null;
  /** Whether a second submission with the same address is refused with `already_submitted`. */
  one_submission_per_email?: boolean | null;
  /** Other properties are stored and returned. */
  [property: string]: unknown;
}

export interface FormSubmission {
  /** The resource's id. Treat it as opaque. */
  id: string;
  /** What kind of object this is. */
  object: "form_submission";
  /** The form. */
  form_id: string;
  /** The address of whoever submitted. A lead with the same address is linked. */
  submitter_email: string;
  /** Answers by field key: strings or arrays of strings. */
  data: Record<string, string | string[]>;
  /** `pending`, `reviewed` or `rejected`. */
  status: SubmissionStatus | Unknown;
  /** When it was created, in UTC. */
  created_at: string;
  /** The name of whoever submitted; may be empty. */
  submitter_name: string | null;
  /** The version of the form that was answered. */
  form_version: number;
  /** The consents that were given, with the policy and its version. */
  consents: ConsentGiven[];
}

export interface FormSubmissionList {
  /** What kind of object this is. */
  object: "list";
  /** The rows of this page, in the list's order. */
  data: FormSubmission[];
  /** True when another page exists: send `next_cursor` back as `cursor`. */
  has_more: boolean;
  /** The cursor of the next page, to be sent back unchanged. Null on the last page. */
  next_cursor: string | null;
}

export interface HealthHour {
  /** When the hour begins, in UTC. */
  at: string;
  /** Attempts that succeeded. */
  succeeded: number;
  /** Attempts that failed. */
  failed: number;
}

export interface IdempotencyKeyState {
  /** What kind of object this is. */
  object: "idempotency_key";
  /** `in_progress`, `succeeded` or `refused`. */
  status: IdempotencyKeyStateStatus | Unknown;
  /** The method and the path of the write, or null while it runs. */
  route: string | null;
  /** The status of the stored response, or null while the request runs. */
  http_status: number | null;
  /** What was made or changed, or null. */
  resource_id: string | null;
  /** Until when the response is replayed, in UTC, or null while the request runs. */
  expires_at: string | null;
}

/** Holds no private staff data, so none can leak. */
export interface Instructor {
  /** The resource's id. Treat it as opaque. */
  id: string;
  /** What kind of object this is. */
  object: "instructor";
  /** The name as the studio shows it. */
  name: string;
  /** One line about the instructor. Empty where there is none. */
  tagline: string;
  /** Tags that the studio gave the instructor. */
  tags: string[];
}

export interface InstructorList {
  /** What kind of object this is. */
  object: "list";
  /** The rows of this page, in the list's order. */
  data: Instructor[];
  /** True when another page exists: send `next_cursor` back as `cursor`. */
  has_more: boolean;
  /** The cursor of the next page, to be sent back unchanged. Null on the last page. */
  next_cursor: string | null;
}

/** The key that the request was made with. */
export interface Key {
  /** The resource's id. Treat it as opaque. */
  id: string;
  /** What kind of object this is. */
  object: "key";
  /** The name that the operator gave the key. */
  name: string;
  /** The studio that it belongs to. */
  studio_id: string;
  /** The integration that the key belongs to. Rotated keys share it. */
  client_id: string;
  /** What the key may do. */
  scopes: string[];
  /** The locations that the key is limited to; null for all. */
  location_ids: string[] | null;
  /** When the key stops working, in UTC, or null for never. */
  expires_at: string | null;
  /** The token bucket that all keys of the client share. */
  rate_limit: KeyRateLimit;
}

export interface KeyRateLimit {
  /** How fast the bucket refills. */
  requests_per_second: number;
  /** How many requests the full bucket holds. */
  burst: number;
}

export interface LastError {
  /** When it was attempted, in UTC. */
  at: string;
  /** The status of your server's response, or null if there was none. */
  response_status: number | null;
  /** The first 2 KiB of your server's response, or null. */
  response_body: string | null;
  /** What went wrong. */
  error: string | null;
}

export interface Lead {
  /** The resource's id. Treat it as opaque. */
  id: string;
  /** What kind of object this is. */
  object: "lead";
  /** The normalized address. One lead per address in a studio. */
  email: string;
  /** The first name. Empty where it is not known. */
  first_name: string;
  /** Where the lead came from. `partner_api` by default. */
  source: string | null;
  /** `new`, `contacted`, `qualified`, `converted` or `unqualified`. */
  status: LeadStatus | Unknown;
  /** `lead`, `trial`, `member`, `former_member`, or null. The server sets it. */
  lifecycle_stage: LifecycleStage | Unknown | null;
  /** Structured data of the studio. `form_submissions` lists the forms that the lead has answered. */
  metadata: Record<string, unknown>;
  /** When it was created, in UTC. */
  created_at: string;
}

export interface LeadList {
  /** What kind of object this is. */
  object: "list";
  /** The rows of this page, in the list's order. */
  data: Lead[];
  /** True when another page exists: send `next_cursor` back as `cursor`. */
  has_more: boolean;
  /** The cursor of the next page, to be sent back unchanged. Null on the last page. */
  next_cursor: string | null;
}

export interface Location {
  /** The resource's id. Treat it as opaque. */
  id: string;
  /** What kind of object this is. */
  object: "location";
  /** The name as the studio shows it. */
  name: string;
  /** The city. */
  city: string;
  /** The state or region. */
  state: string;
  /** The IANA time zone in which to show its times. */
  timezone: string;
  /** False once the studio has retired it. */
  active: boolean;
  /** True for the studio's main location. */
  is_primary: boolean;
}

export interface LocationList {
  /** What kind of object this is. */
  object: "list";
  /** The rows of this page, in the list's order. */
  data: Location[];
  /** True when another page exists: send `next_cursor` back as `cursor`. */
  has_more: boolean;
  /** The cursor of the next page, to be sent back unchanged. Null on the last page. */
  next_cursor: string | null;
}

export interface Member {
  /** The resource's id. Treat it as opaque. */
  id: string;
  /** What kind of object this is. */
  object: "member";
  /** First and last name joined. */
  name: string;
  /** The first name. Empty where it is not known. */
  first_name: string;
  /** The last name. */
  last_name: string;
  /** The email address, trimmed and in lower case; null where the studio has none. */
  email: string | null;
  /** `member`, `user` or `lead`. */
  role: MemberRole | Unknown;
  /** The kind of the current membership, such as `intro`, or null. */
  membership_type: string | null;
  /** When the current membership began, or null. */
  membership_start_date: string | null;
  /** When the current membership ends, or null. */
  membership_end_date: string | null;
  /** When it was created, in UTC. */
  created_at: string;
}

export interface MemberList {
  /** What kind of object this is. */
  object: "list";
  /** The rows of this page, in the list's order. */
  data: Member[];
  /** True when another page exists: send `next_cursor` back as `cursor`. */
  has_more: boolean;
  /** The cursor of the next page, to be sent back unchanged. Null on the last page. */
  next_cursor: string | null;
}

export interface Membership {
  /** The resource's id. Treat it as opaque. */
  id: string;
  /** What kind of object this is. */
  object: "membership";
  /** The member who holds it. */
  member_id: string;
  /** The product that was bought. */
  product_id: string;
  /** `pending`, `active`, `paused`, `past_due`, `cancelled` or `expired`. */
  status: MembershipStatus | Unknown;
  /** Whether it renews after its last day. */
  auto_renew: boolean;
  /** Increases by one with each change. */
  state_version: number;
  /** The pause that is in effect, or null. */
  pause: MembershipPause | null;
  /** The cancellation that was requested or has taken effect, or null. */
  cancellation: MembershipCancellation | null;
}

export interface MembershipCancellation {
  /** When the cancellation was requested, in UTC. */
  requested_at: string;
  /** When the membership ends, in UTC. */
  effective_at: string;
  /** True if it ends with the paid period. */
  at_period_end: boolean;
  /** Why it was cancelled, or null. */
  reason: string | null;
}

export interface MembershipList {
  /** What kind of object this is. */
  object: "list";
  /** The rows of this page, in the list's order. */
  data: Membership[];
  /** True when another page exists: send `next_cursor` back as `cursor`. */
  has_more: boolean;
  /** The cursor of the next page, to be sent back unchanged. Null on the last page. */
  next_cursor: string | null;
}

/** Kept as JSON: whatever offset an import wrote, its instants are in UTC. */
export interface MembershipPause {
  /** When the pause began, in UTC. */
  paused_at: string;
  /** When the membership becomes active again, or null for an open end. */
  resumes_at: string | null;
  /** Why it was paused, or null. */
  reason: string | null;
}

export interface MissedEvents {
  /** What kind of object this is. */
  object: "missed_events";
  /** How many events a recovery would send. */
  count: number;
  /** `false`: there are more, which were not counted. */
  complete: boolean;
}

export interface MutationResult {
  /** The resource's id. Treat it as opaque. */
  id: string;
  /** What kind of object this is. */
  object: "lead";
  /** True when a lead was created, false when the existing one was found. */
  created: boolean;
}

/** A link into the console. It works once, within ten minutes. */
export interface OwnConsoleSession {
  /** What kind of object this is. */
  object: "console_session";
  /** The link, with its token in the fragment. It works once, within ten minutes. Null in a response that you get again. */
  url: string;
  /** When the session ends, in UTC. */
  expires_at: string;
}

export interface PreviewCheck {
  /** The error code of a booking that breaks the rule. */
  code: string;
  /** Whether the rule is met. */
  passed: boolean;
  /** What the `details` of the error would contain. */
  details: Record<string, unknown>;
}

export interface Price {
  /** The resource's id. Treat it as opaque. */
  id: string;
  /** The price as a decimal in text, such as `24.00`. */
  amount: string;
  /** ISO currency code. */
  currency: string;
  /** `one_time` or `recurring`. */
  price_type: string;
  /** Cadence of a recurring price; empty for a one-time price. */
  interval: string;
  /** True for the price that the studio offers first. */
  default: boolean;
  /** False once the studio has retired it. */
  active: boolean;
}

export interface Product {
  /** The resource's id. Treat it as opaque. */
  id: string;
  /** What kind of object this is. */
  object: "product";
  /** A stable name of the product that never changes. */
  key: string;
  /** The name as the studio shows it. */
  name: string;
  /** What kind of product it is, such as `package`. It does not say how it is billed. */
  product_type: string;
  /** False once the studio has retired it. */
  active: boolean;
  /** Whether members see the product in the studio's shop. */
  client_visible: boolean;
  /** Class credits that one purchase grants, or null. */
  credits_granted: number | null;
  /** All prices of the product, active or not, the default one first. */
  prices: Price[];
}

export interface ProductList {
  /** What kind of object this is. */
  object: "list";
  /** The rows of this page, in the list's order. */
  data: Product[];
  /** True when another page exists: send `next_cursor` back as `cursor`. */
  has_more: boolean;
  /** The cursor of the next page, to be sent back unchanged. Null on the last page. */
  next_cursor: string | null;
}

export interface Purchase {
  /** The resource's id. Treat it as opaque. */
  id: string;
  /** What kind of object this is. */
  object: "purchase";
  /** The member who bought it. */
  member_id: string;
  /** The product, or null when the purchase is not linked to one. */
  product_id: string | null;
  /** The product's key at the time of the purchase. */
  product_key: string;
  /** What kind of product it is, such as `package`. It does not say how it is billed. */
  product_type: string;
  /** How many were bought. */
  quantity: number;
  /** The recorded total as a decimal in text, or null. */
  amount_total: string | null;
  /** The ISO 4217 currency code, or null. */
  currency: string | null;
  /** What was refunded, as a decimal in text, or null. Refunds are not made here. */
  refunded_amount: string | null;
  /** `pending`, `completed`, `failed`, `cancelled`, `partially_refunded`, `refunded`, or null. */
  status: PurchaseStatus | Unknown | null;
  /** When it was bought, in UTC. */
  created_at: string;
}

export interface PurchaseList {
  /** What kind of object this is. */
  object: "list";
  /** The rows of this page, in the list's order. */
  data: Purchase[];
  /** True when another page exists: send `next_cursor` back as `cursor`. */
  has_more: boolean;
  /** The cursor of the next page, to be sent back unchanged. Null on the last page. */
  next_cursor: string | null;
}

/** A request that the gateway answered. Its body, its query and the ids in its path are not stored. */
export interface Request {
  /** The resource's id. Treat it as opaque. */
  id: string;
  /** What kind of object this is. */
  object: "request";
  /** The id of the request: yours, or a generated one. */
  request_id: string;
  /** When it was answered, in UTC. */
  at: string;
  /** The HTTP method. */
  method: string;
  /** The route with placeholders instead of ids, or null if no route matched. */
  route: string | null;
  /** The status of the response. */
  status: number;
  /** The `code` of the error, or null. */
  error_code: string | null;
  /** How long the response took, in milliseconds, without the time in which it waited for an event. */
  duration_ms: number;
  /** The key that it was made with. */
  key_id: string;
  /** Name of the key. */
  key_name: string;
  /** How the key begins; it is all that is shown of it. */
  key_prefix: string;
  /** Where the lead came from. `partner_api` by default. */
  source: RequestSource | Unknown;
}

/** The requests of one part of the window, by the class of their status. */
export interface RequestBar {
  /** When the bar begins, in UTC. */
  at: string;
  /** Requests that were answered with 2xx. */
  status_2xx: number;
  /** Requests that were answered with 3xx. */
  status_3xx: number;
  /** Requests that were answered with 4xx. */
  status_4xx: number;
  /** Requests that were answered with 5xx. */
  status_5xx: number;
  /** 19 of 20 requests took at most about this long, in milliseconds; null for none. */
  p95_ms: number | null;
}

export interface RequestCounts {
  /** What kind of object this is. */
  object: "request_counts";
  /** How far back the bars reach. */
  window: RequestCountsWindow | Unknown;
  /** How many seconds a bar covers. */
  bar_seconds: number;
  /** 19 of 20 requests took at most about this long, in milliseconds; null for none. */
  p95_ms: number | null;
  /** The bars, oldest first. The last one is not over yet. */
  data: RequestBar[];
}

export interface RequestList {
  /** What kind of object this is. */
  object: "list";
  /** The rows of this page, in the list's order. */
  data: Request[];
  /** True when another page exists: send `next_cursor` back as `cursor`. */
  has_more: boolean;
  /** The cursor of the next page, to be sent back unchanged. Null on the last page. */
  next_cursor: string | null;
}

/** What leaving the old class cost: the fields of a cancellation receipt that tell the price. */
export interface RescheduleTerms {
  /** True when the old class was left inside the studio's late window. */
  late_cancel: boolean;
  /** Until when leaving it was free, in UTC. */
  free_cancel_until: string;
  /** The late fee as a decimal in text, or null. No payment is made here. */
  late_fee_amount: string | null;
  /** The fee's ISO 4217 currency code, or null. */
  late_fee_currency: string | null;
  /** A fee is assessed, never charged, by this API. */
  late_fee_status: CancellationReceiptLateFeeStatus | Unknown;
  /** True when a credit was lost by leaving late. */
  credit_forfeited: boolean;
  /** How many credits were lost. */
  credits_forfeited: number;
  /** How many credits were given back. */
  credits_restored: number;
}

export interface Room {
  /** The resource's id. Treat it as opaque. */
  id: string;
  /** What kind of object this is. */
  object: "room";
  /** The location that the room is in. */
  location_id: string;
  /** The name as the studio shows it. */
  name: string;
  /** How many people the room holds. A class may hold fewer. */
  capacity: number;
  /** False once the studio has retired it. */
  active: boolean;
}

export interface RoomList {
  /** What kind of object this is. */
  object: "list";
  /** The rows of this page, in the list's order. */
  data: Room[];
  /** True when another page exists: send `next_cursor` back as `cursor`. */
  has_more: boolean;
  /** The cursor of the next page, to be sent back unchanged. Null on the last page. */
  next_cursor: string | null;
}

export interface Studio {
  /** The resource's id. Treat it as opaque. */
  id: string;
  /** What kind of object this is. */
  object: "studio";
  /** The studio's name as members know it. */
  name: string;
  /** A short name for URLs, or null. */
  slug: string | null;
  /** The studio's IANA time zone, or null. Never infer it from the caller. */
  timezone: string | null;
  /** Where the logo can be loaded from, or null. */
  logo_url: string | null;
  /** The brand color as a CSS hex value, or null. */
  primary_color: string | null;
}

/** One problem of a request, and its location. */
export interface ValidationProblem {
  /** Where the problem is: `body`, `query`, `path` or `header`, then the path to the value. */
  loc: (string | number)[];
  /** A sentence that says what is wrong. */
  msg: string;
  /** A stable code for the kind of problem. */
  type: string;
}

export interface WaitlistEntry {
  /** The resource's id. Treat it as opaque. */
  id: string;
  /** What kind of object this is. */
  object: "waitlist";
  /** The class. */
  class_id: string;
  /** The member. */
  member_id: string;
  /** From 1, without gaps, among those waiting. An entry that leaves keeps its last. */
  position: number;
  /** `waiting`, `converted`, `cancelled`, `expired` or `skipped`. All but the first are final. */
  status: WaitlistStatus | Unknown;
  /** True when the entry became a confirmed booking. */
  converted_to_booking: boolean;
}

export interface WaitlistEntryList {
  /** What kind of object this is. */
  object: "list";
  /** The rows of this page, in the list's order. */
  data: WaitlistEntry[];
  /** True when another page exists: send `next_cursor` back as `cursor`. */
  has_more: boolean;
  /** The cursor of the next page, to be sent back unchanged. Null on the last page. */
  next_cursor: string | null;
}

/** One request and its outcome. The request body is the event, as `GET /events/{id}` returns it. */
export interface WebhookAttempt {
  /** When the request was sent, in UTC. */
  at: string;
  /** How long the request took, in milliseconds. */
  duration_ms: number;
  /** The status of your server's response, or null if there was none. */
  response_status: number | null;
  /** The first 2 KiB of your server's response, or null. */
  response_body: string | null;
  /** Why there was no response, or null. */
  error: string | null;
}

/** With the headers that sign it, and the first headers of the response. */
export interface WebhookAttemptWithHeaders {
  /** When the request was sent, in UTC. */
  at: string;
  /** How long the request took, in milliseconds. */
  duration_ms: number;
  /** The status of your server's response, or null if there was none. */
  response_status: number | null;
  /** The first 2 KiB of your server's response, or null. */
  response_body: string | null;
  /** Why there was no response, or null. */
  error: string | null;
  /** The headers that sign the request. */
  request_headers: Record<string, string>;
  /** The first ten headers of the response, each cut after 100 characters; null without a response. */
  response_headers: Record<string, string> | null;
}

/** `sequence` is the `webhook-sequence` header: gap-free per endpoint. */
export interface WebhookDelivery {
  /** The resource's id. Treat it as opaque. */
  id: string;
  /** What kind of object this is. */
  object: "webhook_delivery";
  /** The endpoint. */
  endpoint_id: string;
  /** The event. */
  event_id: string;
  /** The event's kind. */
  event_type: string;
  /** The `webhook-sequence` header: it grows by one with each delivery to the endpoint. */
  sequence: number;
  /** `pending`, `succeeded` or `dead` once the retries are used up. */
  status: WebhookDeliveryStatus | Unknown;
  /** How many attempts were made. */
  attempt_count: number;
  /** When the next attempt is due, in UTC, or null. */
  next_attempt_at: string | null;
  /** When it was created, in UTC. */
  created_at: string;
  /** The attempts, oldest first. */
  attempts: WebhookAttempt[];
}

export interface WebhookDeliveryList {
  /** What kind of object this is. */
  object: "list";
  /** The rows of this page, in the list's order. */
  data: WebhookDelivery[];
  /** True when another page exists: send `next_cursor` back as `cursor`. */
  has_more: boolean;
  /** The cursor of the next page, to be sent back unchanged. Null on the last page. */
  next_cursor: string | null;
}

export interface WebhookDeliveryWithHeaders {
  /** The resource's id. Treat it as opaque. */
  id: string;
  /** What kind of object this is. */
  object: "webhook_delivery";
  /** The endpoint. */
  endpoint_id: string;
  /** The event. */
  event_id: string;
  /** The event's kind. */
  event_type: string;
  /** The `webhook-sequence` header: it grows by one with each delivery to the endpoint. */
  sequence: number;
  /** `pending`, `succeeded` or `dead` once the retries are used up. */
  status: WebhookDeliveryStatus | Unknown;
  /** How many attempts were made. */
  attempt_count: number;
  /** When the next attempt is due, in UTC, or null. */
  next_attempt_at: string | null;
  /** When it was created, in UTC. */
  created_at: string;
  /** The attempts, oldest first. */
  attempts: WebhookAttemptWithHeaders[];
}

export interface WebhookEndpoint {
  /** The resource's id. Treat it as opaque. */
  id: string;
  /** What kind of object this is. */
  object: "webhook_endpoint";
  /** Where events are posted to; https. */
  url: string;
  /** Your own note. */
  description: string;
  /** The kinds of event to deliver; empty for all that the key may see. */
  event_types: string[];
  /** `enabled` or `disabled`. */
  status: WebhookEndpointStatus | Unknown;
  /** Why it was disabled, or null. */
  disabled_reason: string | null;
  /** Whether one event is delivered at a time, in order. A failing event blocks the ones after it. */
  fifo: boolean;
  /** The most attempts per second, or null for no limit. */
  rate_limit: number | null;
  /** The key that created the endpoint. Null for endpoints from before 2026-11. */
  key_id: string | null;
  /** When it was created, in UTC. */
  created_at: string;
}

export interface WebhookEndpointList {
  /** What kind of object this is. */
  object: "list";
  /** The rows of this page, in the list's order. */
  data: WebhookEndpoint[];
  /** True when another page exists: send `next_cursor` back as `cursor`. */
  has_more: boolean;
  /** The cursor of the next page, to be sent back unchanged. Null on the last page. */
  next_cursor: string | null;
}

/** Only the responses to create and rotate show the secret. */
export interface WebhookEndpointWithSecret {
  /** The resource's id. Treat it as opaque. */
  id: string;
  /** What kind of object this is. */
  object: "webhook_endpoint";
  /** Where events are posted to; https. */
  url: string;
  /** Your own note. */
  description: string;
  /** The kinds of event to deliver; empty for all that the key may see. */
  event_types: string[];
  /** `enabled` or `disabled`. */
  status: WebhookEndpointStatus | Unknown;
  /** Why it was disabled, or null. */
  disabled_reason: string | null;
  /** Whether one event is delivered at a time, in order. A failing event blocks the ones after it. */
  fifo: boolean;
  /** The most attempts per second, or null for no limit. */
  rate_limit: number | null;
  /** The key that created the endpoint. Null for endpoints from before 2026-11. */
  key_id: string | null;
  /** When it was created, in UTC. */
  created_at: string;
  /** The signing secret, `whsec_` and base64. It is shown only here; null in a response that you get again. */
  secret: string;
}

export interface WebhookRecovery {
  /** The resource's id. Treat it as opaque. */
  id: string;
  /** What kind of object this is. */
  object: "webhook_recovery";
  /** The endpoint. */
  endpoint_id: string;
  /** The recovery sends events from this time on. */
  since: string;
  /** `running` or `done`. */
  status: WebhookRecoveryStatus | Unknown;
  /** How many events have been queued for delivery so far. */
  offered: number;
  /** When it was created, in UTC. */
  created_at: string;
}

/** An id without the resource: fetch it. */
export interface BookingReference {
  id: string;
  object: "booking";
}

/** An id without the resource: fetch it. */
export interface WaitlistReference {
  id: string;
  object: "waitlist";
}

/** An id without the resource: fetch it. */
export interface ClassReference {
  id: string;
  object: "class";
}

/** An id without the resource: fetch it. */
export interface MemberReference {
  id: string;
  object: "member";
}

/** An id without the resource: fetch it. */
export interface MembershipReference {
  id: string;
  object: "membership";
}

/** An id without the resource: fetch it. */
export interface PurchaseReference {
  id: string;
  object: "purchase";
}

/** An id without the resource: fetch it. */
export interface LeadReference {
  id: string;
  object: "lead";
}

/** An id without the resource: fetch it. */
export interface FormReference {
  id: string;
  object: "form";
  status: string;
}

/** An id without the resource: fetch it. */
export interface FormSubmissionReference {
  id: string;
  object: "form_submission";
  form_id: string;
}

/** An id without the resource: fetch it. */
export interface LocationReference {
  id: string;
  object: "location";
}

/** An id without the resource: fetch it. */
export interface RoomReference {
  id: string;
  object: "room";
}