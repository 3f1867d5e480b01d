// Generated from the OpenAPI document by `python -m clients.generate --write`. Do not edit.

import type {
  Booking,
  BookingList,
  BookingPreview,
  BookingReschedule,
  BookingRescheduleList,
  BookingReschedulePreview,
  BookingStatus,
  CancellationReceipt,
  Class,
  ClassList,
  ClassSpot,
  ClassSpotList,
  ClassStatus,
  ClassType,
  ClassTypeList,
  EndpointHealth,
  EndpointHealthList,
  EventKind,
  EventList,
  EventTypes,
  Form,
  FormEvaluation,
  FormField,
  FormList,
  FormSettings,
  FormStatus,
  FormSubmission,
  FormSubmissionList,
  IdempotencyKeyState,
  Instructor,
  InstructorList,
  Key,
  Lead,
  LeadList,
  LeadStatus,
  Location,
  LocationList,
  Member,
  MemberList,
  Membership,
  MembershipList,
  MissedEvents,
  MutationResult,
  OwnConsoleSession,
  Product,
  ProductList,
  Purchase,
  PurchaseList,
  Request,
  RequestCounts,
  RequestCountsWindow,
  RequestList,
  RequestSource,
  Room,
  RoomList,
  Scope,
  Studio,
  WaitlistEntry,
  WaitlistEntryList,
  WaitlistStatus,
  WebhookDelivery,
  WebhookDeliveryList,
  WebhookDeliveryStatus,
  WebhookDeliveryWithHeaders,
  WebhookEndpoint,
  WebhookEndpointList,
  WebhookEndpointStatus,
  WebhookEndpointWithSecret,
  WebhookRecovery,
} from "./types.js";
import type { Event } from "./events.js";
import { allRows } from "../paging.js";
import type { CallOptions, Operation, Transport, WriteOptions } from "../transport.js";

export interface ListRequestsParams extends CallOptions {
  /** `next_cursor` of the previous page, unchanged. */
  cursor?: string;
  /** The maximum number of rows per page. A page also ends at 512 KiB. */
  limit?: number;
  /** Only requests that were answered with such a status. */
  status_class?: "2xx" | "3xx" | "4xx" | "5xx";
  /** Only requests with this id. */
  request_id?: string;
  /** Only requests of this route, as it is listed. */
  route?: string;
  /** Only requests refused with this code. */
  error_code?: string;
  /** Only requests made with a key, or only those of a console. */
  source?: RequestSource;
}

export interface GetRequestCountsParams extends CallOptions {
  /** How far back. */
  window?: RequestCountsWindow;
  /** Requests made with a key, or those of a console. */
  source?: RequestSource;
}

export interface CreateConsoleSessionParams extends WriteOptions {
  /** How long the session lasts, in seconds. Default: `3600`. */
  expires_in?: number;
  /** Some of the key's scopes; null for all of them. */
  scopes?: readonly Scope[] | null;
}

export interface ListLocationsParams extends CallOptions {
  /** `next_cursor` of the previous page, unchanged. */
  cursor?: string;
  /** The maximum number of rows per page. A page also ends at 512 KiB. */
  limit?: number;
}

export interface ListRoomsParams extends CallOptions {
  /** `next_cursor` of the previous page, unchanged. */
  cursor?: string;
  /** The maximum number of rows per page. A page also ends at 512 KiB. */
  limit?: number;
  /** Only rooms of this location. */
  location_id?: string;
}

export interface ListClassTypesParams extends CallOptions {
  /** `next_cursor` of the previous page, unchanged. */
  cursor?: string;
  /** The maximum number of rows per page. A page also ends at 512 KiB. */
  limit?: number;
}

export interface ListInstructorsParams extends CallOptions {
  /** `next_cursor` of the previous page, unchanged. */
  cursor?: string;
  /** The maximum number of rows per page. A page also ends at 512 KiB. */
  limit?: number;
}

export interface ListProductsParams extends CallOptions {
  /** `next_cursor` of the previous page, unchanged. */
  cursor?: string;
  /** The maximum number of rows per page. A page also ends at 512 KiB. */
  limit?: number;
  /** Only products with this value. */
  active?: boolean;
}

export interface ListClassesParams extends CallOptions {
  /** `next_cursor` of the previous page, unchanged. */
  cursor?: string;
  /** The maximum number of rows per page: 50, or 100 with `ids`, unless said otherwise. A page also ends at 512 KiB. */
  limit?: number;
  /** At most 100 class ids, separated by commas, in any order. Those that do not exist or that the key may not see are left out. */
  ids?: readonly string[];
  /** Inclusive; any offset. */
  starts_after?: string | Date;
  /** Exclusive; any offset. */
  starts_before?: string | Date;
  /** Only classes that start on this day, by the clock of their location. */
  on?: string;
  /** Only those at this location. */
  location_id?: string;
  /** Only classes of this instructor. */
  instructor_id?: string;
  /** Only classes of this type. */
  class_type_id?: string;
  /** Only classes in this room. */
  room_id?: string;
  /** Only those with this status. */
  status?: ClassStatus;
}

export interface ListClassSpotsParams extends CallOptions {
  /** `next_cursor` of the previous page, unchanged. */
  cursor?: string;
  /** The maximum number of rows per page. A page also ends at 512 KiB. */
  limit?: number;
}

export interface ListMembersParams extends CallOptions {
  /** `next_cursor` of the previous page, unchanged. */
  cursor?: string;
  /** The maximum number of rows per page. A page also ends at 512 KiB. */
  limit?: number;
  /** Only the member with this email. Case and surrounding spaces do not matter. */
  email?: string;
}

export interface CreateMemberParams extends WriteOptions {
  /** Unique in the studio. A second member with the same address is refused with `member_exists`. */
  email: string;
  /** The first name. Empty where it is not known. */
  first_name: string;
  /** The last name. */
  last_name: string;
  /** Optional. Checked for its country; without a country code the studio's is assumed. */
  phone?: string | null;
}

export interface ListMembershipsParams extends CallOptions {
  /** `next_cursor` of the previous page, unchanged. */
  cursor?: string;
  /** The maximum number of rows per page. A page also ends at 512 KiB. */
  limit?: number;
}

export interface ListBookingsParams extends CallOptions {
  /** `next_cursor` of the previous page, unchanged. */
  cursor?: string;
  /** The maximum number of rows per page. A page also ends at 512 KiB. */
  limit?: number;
  /** Only those of this class. */
  class_id?: string;
  /** Only those of this member. */
  member_id?: string;
  /** Only those with this status. */
  status?: BookingStatus;
  /** Only bookings of classes that start then or later; any offset. */
  starts_after?: string | Date;
  /** Only bookings of classes that start earlier; any offset. */
  starts_before?: string | Date;
}

export interface CreateBookingParams extends WriteOptions {
  /** The class to book. */
  class_id: string;
  /** The member to book for. Reuse a member: do not create one per booking. */
  member_id: string;
  /** Join the waitlist when the class is full. Default: `false`. */
  join_waitlist?: boolean;
  /** A spot from `GET /classes/{class_id}/spots`, where the class has spots. */
  class_spot_id?: string | null;
  /** Hold the seat for so long instead of booking it. Confirm it with `POST /bookings/{booking_id}/confirm`. Not together with `join_waitlist`. */
  hold_seconds?: number | null;
}

export interface PreviewBookingParams extends CallOptions {
  /** The class to book. */
  class_id: string;
  /** The member to book for. Reuse a member: do not create one per booking. */
  member_id: string;
  /** Join the waitlist when the class is full. Default: `false`. */
  join_waitlist?: boolean;
  /** A spot from `GET /classes/{class_id}/spots`, where the class has spots. */
  class_spot_id?: string | null;
  /** Hold the seat for so long instead of booking it. Confirm it with `POST /bookings/{booking_id}/confirm`. Not together with `join_waitlist`. */
  hold_seconds?: number | null;
}

export interface CancelBookingParams extends WriteOptions {
  /** Why, in a few words. It is stored with the cancellation. */
  reason?: string;
  /** Cancel only if the fee is not higher. */
  max_late_fee?: string;
  /** `false`: cancel only if no credit is lost. */
  allow_credit_forfeit?: boolean;
}

export interface RescheduleBookingParams extends WriteOptions {
  /** The class to move to. */
  class_id: string;
  /** A spot of that class. */
  class_spot_id?: string | null;
  /** Move only if the fee for leaving the old class is not higher. */
  max_late_fee?: string | null;
  /** `false`: move only if no credit is lost. */
  allow_credit_forfeit?: boolean | null;
}

export interface PreviewRescheduleParams extends CallOptions {
  /** The class to move to. */
  class_id: string;
  /** A spot of that class. */
  class_spot_id?: string | null;
  /** Move only if the fee for leaving the old class is not higher. */
  max_late_fee?: string | null;
  /** `false`: move only if no credit is lost. */
  allow_credit_forfeit?: boolean | null;
}

export interface ListReschedulesParams extends CallOptions {
  /** `next_cursor` of the previous page, unchanged. */
  cursor?: string;
  /** The maximum number of rows per page. A page also ends at 512 KiB. */
  limit?: number;
}

export interface ListWaitlistParams extends CallOptions {
  /** `next_cursor` of the previous page, unchanged. */
  cursor?: string;
  /** The maximum number of rows per page. A page also ends at 512 KiB. */
  limit?: number;
  /** Only those of this class. */
  class_id?: string;
  /** Only those of this member. */
  member_id?: string;
  /** Only those with this status. */
  status?: WaitlistStatus;
}

export interface ListPurchasesParams extends CallOptions {
  /** `next_cursor` of the previous page, unchanged. */
  cursor?: string;
  /** The maximum number of rows per page. A page also ends at 512 KiB. */
  limit?: number;
  /** Only those of this member. */
  member_id?: string;
}

export interface ListFormsParams extends CallOptions {
  /** `next_cursor` of the previous page, unchanged. */
  cursor?: string;
  /** The maximum number of rows per page. A page also ends at 512 KiB. */
  limit?: number;
  /** Include draft and archived forms; needs the scope forms:write. */
  include_drafts?: boolean;
}

export interface CreateFormParams extends WriteOptions {
  /** The form's title as visitors see it. */
  title: string;
  /** A short name for URLs, unique in the studio. Derived from the title if omitted. */
  slug?: string;
  /** Text for members, or null. */
  description?: string | null;
  /** The fields, in the order in which they were written. On update they replace all fields. */
  fields?: readonly FormField[];
  /** How the form behaves. Unknown keys are stored and returned. An update replaces all settings. */
  settings?: FormSettings;
  /** `draft` by default. Default: `draft`. */
  status?: "draft" | "published";
}

export interface UpdateFormParams extends WriteOptions {
  /** The form's title as visitors see it. */
  title?: string;
  /** A short name for URLs, unique in the studio. Derived from the title if omitted. */
  slug?: string;
  /** Text for members, or null. */
  description?: string | null;
  /** The fields, in the order in which they were written. On update they replace all fields. */
  fields?: readonly FormField[];
  /** How the form behaves. Unknown keys are stored and returned. An update replaces all settings. */
  settings?: FormSettings;
  /** The next status. Drafts are published or archived; archived forms can be published again. */
  status?: FormStatus;
}

export interface EvaluateFormParams extends CallOptions {
  /** Answers by field key: strings or arrays of strings. */
  data?: Record<string, string | readonly string[]>;
}

export interface ListSubmissionsParams extends CallOptions {
  /** `next_cursor` of the previous page, unchanged. */
  cursor?: string;
  /** The maximum number of rows per page. A page also ends at 512 KiB. */
  limit?: number;
}

export interface CreateSubmissionParams extends WriteOptions {
  /** The name of whoever submitted; may be empty. */
  submitter_name?: string | null;
  /** The address of whoever submitted. A lead with the same address is linked. */
  submitter_email: string;
  /** Answers by field key: strings or arrays of strings. */
  data: Record<string, string | readonly string[]>;
}

export interface ListLeadsParams extends CallOptions {
  /** `next_cursor` of the previous page, unchanged. */
  cursor?: string;
  /** The maximum number of rows per page. A page also ends at 512 KiB. */
  limit?: number;
}

export interface CreateLeadParams extends WriteOptions {
  /** The address that identifies the lead. It is normalized before it is compared. */
  email: string;
  /** The first name. Empty where it is not known. */
  first_name?: string;
  /** Where the lead came from. `partner_api` by default. Default: `partner_api`. */
  source?: string;
  /** Structured data to keep with a new lead. */
  metadata?: Record<string, unknown>;
  /** Kept in `metadata`. */
  utm_source?: string;
  /** Kept in `metadata`. */
  utm_campaign?: string;
}

export interface UpdateLeadParams extends WriteOptions {
  /** The first name. Empty where it is not known. */
  first_name?: string;
  /** The last name. */
  last_name?: string | null;
  /** A phone number with its country code, or in the studio's country without one. */
  phone?: string | null;
  /** The email address, trimmed and in lower case. */
  email?: string;
  /** The next status. Steps forward may be skipped; a step back is refused. */
  status?: LeadStatus;
  /** Notes for the studio's staff. They can be written but are never returned. */
  notes?: string | null;
  /** A JSON merge patch. */
  metadata?: Record<string, unknown>;
}

export interface UpdateLeadByPostParams extends WriteOptions {
  /** The first name. Empty where it is not known. */
  first_name?: string;
  /** The last name. */
  last_name?: string | null;
  /** A phone number with its country code, or in the studio's country without one. */
  phone?: string | null;
  /** The email address, trimmed and in lower case. */
  email?: string;
  /** The next status. Steps forward may be skipped; a step back is refused. */
  status?: LeadStatus;
  /** Notes for the studio's staff. They can be written but are never returned. */
  notes?: string | null;
  /** A JSON merge patch. */
  metadata?: Record<string, unknown>;
}

export interface ListWebhookEndpointsParams extends CallOptions {
  /** `next_cursor` of the previous page, unchanged. */
  cursor?: string;
  /** The maximum number of rows per page. A page also ends at 512 KiB. */
  limit?: number;
}

export interface CreateWebhookEndpointParams extends WriteOptions {
  /** Where events are posted to; https. */
  url: string;
  /** Your own note. */
  description?: string;
  /** The kinds of event to deliver; empty for all that the key may see. */
  event_types?: readonly EventKind[];
  /** Deliver one event at a time, in order. A failing event blocks the ones after it. Default: `false`. */
  fifo?: boolean;
  /** The most attempts per second, or null for no limit. */
  rate_limit?: number | null;
}

export interface UpdateWebhookEndpointParams extends WriteOptions {
  /** Where events are posted to; https. */
  url?: string;
  /** Your own note. */
  description?: string;
  /** The kinds of event to deliver; empty for all that the key may see. */
  event_types?: readonly EventKind[];
  /** `enabled` starts deliveries again. */
  status?: WebhookEndpointStatus;
  /** Whether one event is delivered at a time, in order. A failing event blocks the ones after it. */
  fifo?: boolean;
  /** The most attempts per second, or null for no limit. */
  rate_limit?: number | null;
}

export interface RotateWebhookSecretParams extends WriteOptions {
  /** For how long requests are also signed with the old secret. Default: `86400`. */
  overlap_seconds?: number;
}

export interface RecoverWebhookEndpointParams extends WriteOptions {
  /** The recovery sends events from this time on. */
  since: string | Date;
}

export interface ListWebhookDeliveriesParams extends CallOptions {
  /** `next_cursor` of the previous page, unchanged. */
  cursor?: string;
  /** The maximum number of rows per page. A page also ends at 512 KiB. */
  limit?: number;
  /** Only those with this status. */
  status?: WebhookDeliveryStatus;
  /** The oldest first (`asc`), or the newest first (`desc`). */
  order?: "asc" | "desc";
}

export interface CountMissedEventsParams extends CallOptions {
  /** From when the recovery would begin. */
  since: string | Date;
}

export interface ListWebhookHealthParams extends CallOptions {
  /** `next_cursor` of the previous page, unchanged. */
  cursor?: string;
  /** The maximum number of rows per page. A page also ends at 512 KiB. */
  limit?: number;
  /** Only this endpoint. */
  endpoint_id?: string;
}

export interface ListDeliveriesOfEventParams extends CallOptions {
  /** `next_cursor` of the previous page, unchanged. */
  cursor?: string;
  /** The maximum number of rows per page. A page also ends at 512 KiB. */
  limit?: number;
  /** Only deliveries of this event. */
  event_id: string;
}

export interface ListEventsParams extends CallOptions {
  /** `next_cursor` of the previous page, unchanged. */
  cursor?: string;
  /** The maximum number of rows per page. A page also ends at 512 KiB. */
  limit?: number;
  /** Only events of this type. */
  type?: EventKind;
  /** Only events with a higher sequence. */
  after_sequence?: number;
  /** Only events that this call caused. */
  request_id?: string;
  /** The oldest first (`asc`), or the newest first (`desc`). */
  order?: "asc" | "desc";
  /** With `after_sequence`: if there is no event yet, wait for one, at most this many seconds. The page is empty if none came; go on after its `latest_sequence`. */
  wait?: number;
}

const OPERATIONS = {
  getKey: { method: "GET", path: "/key", query: [] },
  listRequests: { method: "GET", path: "/requests", query: ["cursor", "limit", "status_class", "request_id", "route", "error_code", "source"] },
  getRequestCounts: { method: "GET", path: "/requests/counts", query: ["window", "source"] },
  getIdempotencyKey: { method: "GET", path: "/idempotency-keys/{}", query: [] },
  createConsoleSession: { method: "POST", path: "/console-sessions", query: [], hasBody: true, takesKey: true, secret: "url" },
  getStudio: { method: "GET", path: "/studio", query: [] },
  listLocations: { method: "GET", path: "/locations", query: ["cursor", "limit"] },
  getLocation: { method: "GET", path: "/locations/{}", query: [] },
  listRooms: { method: "GET", path: "/rooms", query: ["cursor", "limit", "location_id"] },
  getRoom: { method: "GET", path: "/rooms/{}", query: [] },
  listClassTypes: { method: "GET", path: "/class-types", query: ["cursor", "limit"] },
  getClassType: { method: "GET", path: "/class-types/{}", query: [] },
  listInstructors: { method: "GET", path: "/instructors", query: ["cursor", "limit"] },
  getInstructor: { method: "GET", path: "/instructors/{}", query: [] },
  listProducts: { method: "GET", path: "/products", query: ["cursor", "limit", "active"] },
  getProduct: { method: "GET", path: "/products/{}", query: [] },
  listClasses: { method: "GET", path: "/classes", query: ["cursor", "limit", "ids", "starts_after", "starts_before", "on", "location_id", "instructor_id", "class_type_id", "room_id", "status"] },
  getClass: { method: "GET", path: "/classes/{}", query: [] },
  listClassSpots: { method: "GET", path: "/classes/{}/spots", query: ["cursor", "limit"] },
  listMembers: { method: "GET", path: "/members", query: ["cursor", "limit", "email"] },
  createMember: { method: "POST", path: "/members", query: [], hasBody: true, takesKey: true },
  getMember: { method: "GET", path: "/members/{}", query: [] },
  listMemberships: { method: "GET", path: "/members/{}/memberships", query: ["cursor", "limit"] },
  getMembership: { method: "GET", path: "/memberships/{}", query: [] },
  listBookings: { method: "GET", path: "/bookings", query: ["cursor", "limit", "class_id", "member_id", "status", "starts_after", "starts_before"] },
  createBooking: { method: "POST", path: "/bookings", query: [], hasBody: true, takesKey: true },
  previewBooking: { method: "POST", path: "/bookings/preview", query: [], hasBody: true },
  getBooking: { method: "GET", path: "/bookings/{}", query: [] },
  cancelBooking: { method: "DELETE", path: "/bookings/{}", query: ["reason", "max_late_fee", "allow_credit_forfeit"], takesKey: true },
  confirmBooking: { method: "POST", path: "/bookings/{}/confirm", query: [], takesKey: true },
  previewCancellation: { method: "GET", path: "/bookings/{}/cancellation-preview", query: [] },
  rescheduleBooking: { method: "POST", path: "/bookings/{}/reschedule", query: [], hasBody: true, takesKey: true },
  previewReschedule: { method: "POST", path: "/bookings/{}/reschedule/preview", query: [], hasBody: true },
  listReschedules: { method: "GET", path: "/bookings/{}/reschedules", query: ["cursor", "limit"] },
  listWaitlist: { method: "GET", path: "/waitlist", query: ["cursor", "limit", "class_id", "member_id", "status"] },
  getWaitlistEntry: { method: "GET", path: "/waitlist/{}", query: [] },
  listPurchases: { method: "GET", path: "/purchases", query: ["cursor", "limit", "member_id"] },
  getPurchase: { method: "GET", path: "/purchases/{}", query: [] },
  listForms: { method: "GET", path: "/forms", query: ["cursor", "limit", "include_drafts"] },
  createForm: { method: "POST", path: "/forms", query: [], hasBody: true, takesKey: true },
  getForm: { method: "GET", path: "/forms/{}", query: [] },
  updateForm: { method: "PUT", path: "/forms/{}", query: [], hasBody: true, takesKey: true },
  evaluateForm: { method: "POST", path: "/forms/{}/evaluate", query: [], hasBody: true },
  listSubmissions: { method: "GET", path: "/forms/{}/submissions", query: ["cursor", "limit"] },
  createSubmission: { method: "POST", path: "/forms/{}/submissions", query: [], hasBody: true, takesKey: true },
  getSubmission: { method: "GET", path: "/forms/{}/submissions/{}", query: [] },
  listLeads: { method: "GET", path: "/leads", query: ["cursor", "limit"] },
  createLead: { method: "POST", path: "/leads", query: [], hasBody: true, takesKey: true },
  getLead: { method: "GET", path: "/leads/{}", query: [] },
  updateLead: { method: "PATCH", path: "/leads/{}", query: [], hasBody: true, takesKey: true },
  updateLeadByPost: { method: "POST", path: "/leads/{}/update", query: [], hasBody: true, takesKey: true },
  listWebhookEndpoints: { method: "GET", path: "/webhook-endpoints", query: ["cursor", "limit"] },
  createWebhookEndpoint: { method: "POST", path: "/webhook-endpoints", query: [], hasBody: true, takesKey: true, secret: "secret" },
  getWebhookEndpoint: { method: "GET", path: "/webhook-endpoints/{}", query: [] },
  updateWebhookEndpoint: { method: "PATCH", path: "/webhook-endpoints/{}", query: [], hasBody: true, takesKey: true },
  deleteWebhookEndpoint: { method: "DELETE", path: "/webhook-endpoints/{}", query: [], takesKey: true },
  rotateWebhookSecret: { method: "POST", path: "/webhook-endpoints/{}/rotate-secret", query: [], hasBody: true, takesKey: true, secret: "secret" },
  testWebhookEndpoint: { method: "POST", path: "/webhook-endpoints/{}/test", query: [], takesKey: true },
  recoverWebhookEndpoint: { method: "POST", path: "/webhook-endpoints/{}/recover", query: [], hasBody: true, takesKey: true },
  getWebhookRecovery: { method: "GET", path: "/webhook-endpoints/{}/recoveries/{}", query: [] },
  listWebhookDeliveries: { method: "GET", path: "/webhook-endpoints/{}/deliveries", query: ["cursor", "limit", "status", "order"] },
  countMissedEvents: { method: "GET", path: "/webhook-endpoints/{}/missed-events", query: ["since"] },
  listWebhookHealth: { method: "GET", path: "/webhook-health", query: ["cursor", "limit", "endpoint_id"] },
  listDeliveriesOfEvent: { method: "GET", path: "/webhook-deliveries", query: ["cursor", "limit", "event_id"] },
  getWebhookDelivery: { method: "GET", path: "/webhook-deliveries/{}", query: [] },
  retryWebhookDelivery: { method: "POST", path: "/webhook-deliveries/{}/retry", query: [], takesKey: true },
  listEvents: { method: "GET", path: "/events", query: ["cursor", "limit", "type", "after_sequence", "request_id", "order", "wait"], events: true },
  getEvent: { method: "GET", path: "/events/{}", query: [], events: true },
  listEventTypes: { method: "GET", path: "/event-types", query: [] },
} as const satisfies Record<string, Operation>;

/** One method for each operation of the API, named after its `operationId`. */
export class Operations {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /**
   * Read the key in use.
   *
   * The key's name, studio, scopes, locations, expiry and rate limit, without its secret.
   *
   * Any valid key may call this.
   */
  getKey(params: CallOptions = {}): Promise<Key> {
    return this.#transport.send(OPERATIONS.getKey, [], params);
  }

  /**
   * List your requests of the last seven days.
   *
   * The requests of your client's keys, newest first: method, route, status and duration, without bodies. They appear within seconds. Under high load some successful requests are not recorded.
   *
   * Any valid key may call this.
   */
  listRequests(params: ListRequestsParams = {}): Promise<RequestList> {
    return this.#transport.send(OPERATIONS.listRequests, [], params);
  }

  /** Every row of `listRequests`, page by page as you loop. */
  iterRequests(params: ListRequestsParams = {}): AsyncGenerator<Request, void, void> {
    return allRows((page) => this.listRequests({ ...params, ...page }), params);
  }

  /**
   * Count your requests by status over a window.
   *
   * The bars of a histogram, oldest first: minutes, half hours or three hours. A request is counted within seconds. When very many arrive at once, some successful ones are not.
   *
   * Any valid key may call this.
   */
  getRequestCounts(params: GetRequestCountsParams = {}): Promise<RequestCounts> {
    return this.#transport.send(OPERATIONS.getRequestCounts, [], params);
  }

  /**
   * Look up an idempotency key.
   *
   * For a write whose response was lost: in progress, succeeded or refused. Keys are kept for 24 hours. If several services have the key, the newest use of it is returned. A key that contains a slash cannot be looked up; retry the write with it instead.
   *
   * Any valid key may call this.
   */
  getIdempotencyKey(key: string, params: CallOptions = {}): Promise<IdempotencyKeyState> {
    return this.#transport.send(OPERATIONS.getIdempotencyKey, [key], params);
  }

  /**
   * Create a link into the console.
   *
   * A link for a person's browser, so that the key stays on your server. It works once, within ten minutes, and opens a session with the key's scopes or some of them. Revoking the key ends the session. A session shares the client's rate limit and cannot create sessions.
   *
   * Any valid key may call this.
   *
   * Refused with `console_session_not_allowed`.
   */
  createConsoleSession(params: CreateConsoleSessionParams = {}): Promise<OwnConsoleSession> {
    return this.#transport.send(OPERATIONS.createConsoleSession, [], params);
  }

  /**
   * Read the studio.
   *
   * Required scope: `studio:read`.
   */
  getStudio(params: CallOptions = {}): Promise<Studio> {
    return this.#transport.send(OPERATIONS.getStudio, [], params);
  }

  /**
   * List locations, active and inactive.
   *
   * Required scope: `studio:read`.
   */
  listLocations(params: ListLocationsParams = {}): Promise<LocationList> {
    return this.#transport.send(OPERATIONS.listLocations, [], params);
  }

  /** Every row of `listLocations`, page by page as you loop. */
  iterLocations(params: ListLocationsParams = {}): AsyncGenerator<Location, void, void> {
    return allRows((page) => this.listLocations({ ...params, ...page }), params);
  }

  /**
   * Read a location.
   *
   * Required scope: `studio:read`.
   */
  getLocation(locationId: string, params: CallOptions = {}): Promise<Location> {
    return this.#transport.send(OPERATIONS.getLocation, [locationId], params);
  }

  /**
   * List rooms.
   *
   * A `location_id` that the key cannot access returns 404.
   *
   * Required scope: `schedule:read`.
   */
  listRooms(params: ListRoomsParams = {}): Promise<RoomList> {
    return this.#transport.send(OPERATIONS.listRooms, [], params);
  }

  /** Every row of `listRooms`, page by page as you loop. */
  iterRooms(params: ListRoomsParams = {}): AsyncGenerator<Room, void, void> {
    return allRows((page) => this.listRooms({ ...params, ...page }), params);
  }

  /**
   * Read a room.
   *
   * Required scope: `schedule:read`.
   */
  getRoom(roomId: string, params: CallOptions = {}): Promise<Room> {
    return this.#transport.send(OPERATIONS.getRoom, [roomId], params);
  }

  /**
   * List class types.
   *
   * Required scope: `schedule:read`.
   */
  listClassTypes(params: ListClassTypesParams = {}): Promise<ClassTypeList> {
    return this.#transport.send(OPERATIONS.listClassTypes, [], params);
  }

  /** Every row of `listClassTypes`, page by page as you loop. */
  iterClassTypes(params: ListClassTypesParams = {}): AsyncGenerator<ClassType, void, void> {
    return allRows((page) => this.listClassTypes({ ...params, ...page }), params);
  }

  /**
   * Read a class type.
   *
   * Required scope: `schedule:read`.
   */
  getClassType(classTypeId: string, params: CallOptions = {}): Promise<ClassType> {
    return this.#transport.send(OPERATIONS.getClassType, [classTypeId], params);
  }

  /**
   * List active instructors.
   *
   * Required scope: `schedule:read`.
   */
  listInstructors(params: ListInstructorsParams = {}): Promise<InstructorList> {
    return this.#transport.send(OPERATIONS.listInstructors, [], params);
  }

  /** Every row of `listInstructors`, page by page as you loop. */
  iterInstructors(params: ListInstructorsParams = {}): AsyncGenerator<Instructor, void, void> {
    return allRows((page) => this.listInstructors({ ...params, ...page }), params);
  }

  /**
   * Read an instructor, active or not.
   *
   * Required scope: `schedule:read`.
   */
  getInstructor(instructorId: string, params: CallOptions = {}): Promise<Instructor> {
    return this.#transport.send(OPERATIONS.getInstructor, [instructorId], params);
  }

  /**
   * List products with their prices.
   *
   * Required scope: `catalog:read`.
   */
  listProducts(params: ListProductsParams = {}): Promise<ProductList> {
    return this.#transport.send(OPERATIONS.listProducts, [], params);
  }

  /** Every row of `listProducts`, page by page as you loop. */
  iterProducts(params: ListProductsParams = {}): AsyncGenerator<Product, void, void> {
    return allRows((page) => this.listProducts({ ...params, ...page }), params);
  }

  /**
   * Read a product with all its prices.
   *
   * Required scope: `catalog:read`.
   */
  getProduct(productId: string, params: CallOptions = {}): Promise<Product> {
    return this.#transport.send(OPERATIONS.getProduct, [productId], params);
  }

  /**
   * List class sessions.
   *
   * Ordered by start time. Filters combine. A `location_id` that the key cannot access returns 404. `ids` reads the availability of up to 100 classes in one call.
   *
   * Required scope: `schedule:read`.
   */
  listClasses(params: ListClassesParams = {}): Promise<ClassList> {
    return this.#transport.send(OPERATIONS.listClasses, [], params);
  }

  /** Every row of `listClasses`, page by page as you loop. */
  iterClasses(params: ListClassesParams = {}): AsyncGenerator<Class, void, void> {
    return allRows((page) => this.listClasses({ ...params, ...page }), params);
  }

  /**
   * Get a class session.
   *
   * Required scope: `schedule:read`.
   */
  getClass(classId: string, params: CallOptions = {}): Promise<Class> {
    return this.#transport.send(OPERATIONS.getClass, [classId], params);
  }

  /**
   * List the spots of a class.
   *
   * In the studio's order. Empty for a class without spots.
   *
   * Required scope: `schedule:read`.
   */
  listClassSpots(classId: string, params: ListClassSpotsParams = {}): Promise<ClassSpotList> {
    return this.#transport.send(OPERATIONS.listClassSpots, [classId], params);
  }

  /** Every row of `listClassSpots`, page by page as you loop. */
  iterClassSpots(classId: string, params: ListClassSpotsParams = {}): AsyncGenerator<ClassSpot, void, void> {
    return allRows((page) => this.listClassSpots(classId, { ...params, ...page }), params);
  }

  /**
   * List members.
   *
   * Member, user and lead-role profiles of the studio, oldest first.
   *
   * Required scope: `members:read`.
   */
  listMembers(params: ListMembersParams = {}): Promise<MemberList> {
    return this.#transport.send(OPERATIONS.listMembers, [], params);
  }

  /** Every row of `listMembers`, page by page as you loop. */
  iterMembers(params: ListMembersParams = {}): AsyncGenerator<Member, void, void> {
    return allRows((page) => this.listMembers({ ...params, ...page }), params);
  }

  /**
   * Create a member.
   *
   * The normalized email must be unique; the error names the member who already has it.
   *
   * Required scope: `members:write`.
   *
   * Refused with `member_exists`.
   */
  createMember(params: CreateMemberParams): Promise<Member> {
    return this.#transport.send(OPERATIONS.createMember, [], params);
  }

  /**
   * Get a member.
   *
   * Required scope: `members:read`.
   */
  getMember(memberId: string, params: CallOptions = {}): Promise<Member> {
    return this.#transport.send(OPERATIONS.getMember, [memberId], params);
  }

  /**
   * List a member's memberships.
   *
   * Required scope: `members:read`.
   */
  listMemberships(memberId: string, params: ListMembershipsParams = {}): Promise<MembershipList> {
    return this.#transport.send(OPERATIONS.listMemberships, [memberId], params);
  }

  /** Every row of `listMemberships`, page by page as you loop. */
  iterMemberships(memberId: string, params: ListMembershipsParams = {}): AsyncGenerator<Membership, void, void> {
    return allRows((page) => this.listMemberships(memberId, { ...params, ...page }), params);
  }

  /**
   * Get a membership.
   *
   * Required scope: `members:read`.
   */
  getMembership(membershipId: string, params: CallOptions = {}): Promise<Membership> {
    return this.#transport.send(OPERATIONS.getMembership, [membershipId], params);
  }

  /**
   * List bookings.
   *
   * Oldest first. Filters combine. Without `class_id` or `member_id`, the range from `starts_after` to `starts_before` may hold at most 1,000 of the studio's classes; a wider one returns 422. Without `status`, bookings that are or were only held are left out.
   *
   * Required scope: `bookings:read`.
   */
  listBookings(params: ListBookingsParams = {}): Promise<BookingList> {
    return this.#transport.send(OPERATIONS.listBookings, [], params);
  }

  /** Every row of `listBookings`, page by page as you loop. */
  iterBookings(params: ListBookingsParams = {}): AsyncGenerator<Booking, void, void> {
    return allRows((page) => this.listBookings({ ...params, ...page }), params);
  }

  /**
   * Book a class.
   *
   * Checks capacity, eligibility, spot and waitlist in one transaction. With `join_waitlist`, a full class returns 201 with status `waitlisted` and the position on the waitlist. If the response is lost, repeat the request with the same Idempotency-Key: the first response is returned again, byte for byte. With `hold_seconds` the seat is held, and nothing is charged: the answer has status `held` and `held_until`.
   *
   * Required scope: `bookings:write`.
   *
   * Refused with `class_not_bookable`, `already_booked`, `already_waitlisted`, `already_held`, `member_not_eligible`, `spot_required`, `spot_taken`, `class_full`, `waitlist_not_allowed`, `waitlist_full`, `too_many_holds`.
   */
  createBooking(params: CreateBookingParams): Promise<Booking> {
    return this.#transport.send(OPERATIONS.createBooking, [], params);
  }

  /**
   * Preview a booking.
   *
   * Runs every check of a booking and reports each result, without writing anything.
   *
   * Required scope: `bookings:read`.
   */
  previewBooking(params: PreviewBookingParams): Promise<BookingPreview> {
    return this.#transport.send(OPERATIONS.previewBooking, [], params);
  }

  /**
   * Get a booking.
   *
   * Required scope: `bookings:read`.
   */
  getBooking(bookingId: string, params: CallOptions = {}): Promise<Booking> {
    return this.#transport.send(OPERATIONS.getBooking, [bookingId], params);
  }

  /**
   * Cancel a booking.
   *
   * Applies the studio's current cancellation policy. `max_late_fee` and `allow_credit_forfeit` limit what the caller accepts: if the terms are worse, nothing is cancelled. Giving up a hold is free, and a key with `bookings:write` alone may do it; any other booking needs `bookings:cancel`.
   *
   * Required scope: `bookings:cancel`.
   *
   * Refused with `booking_already_cancelled`, `booking_not_cancellable`, `cancellation_terms_changed`.
   */
  cancelBooking(bookingId: string, params: CancelBookingParams = {}): Promise<CancellationReceipt> {
    return this.#transport.send(OPERATIONS.cancelBooking, [bookingId], params);
  }

  /**
   * Confirm a hold.
   *
   * Checks the member in full, charges the credits and makes the booking `confirmed`. Who has paid too late is still booked: until the class starts, a hold that has run out takes its seat again, if the seat is free and nobody waits.
   *
   * Required scope: `bookings:write`.
   *
   * Refused with `booking_not_held`, `class_not_bookable`, `already_booked`, `already_waitlisted`, `already_held`, `member_not_eligible`, `hold_expired`.
   */
  confirmBooking(bookingId: string, params: WriteOptions = {}): Promise<Booking> {
    return this.#transport.send(OPERATIONS.confirmBooking, [bookingId], params);
  }

  /**
   * Preview a cancellation.
   *
   * The receipt that a cancellation would give at this instant, without cancelling anything. It changes with the clock, so it carries no `ETag`.
   *
   * Required scope: `bookings:read`.
   *
   * Refused with `booking_already_cancelled`, `booking_not_cancellable`.
   */
  previewCancellation(bookingId: string, params: CallOptions = {}): Promise<CancellationReceipt> {
    return this.#transport.send(OPERATIONS.previewCancellation, [bookingId], params);
  }

  /**
   * Move a booking to another class.
   *
   * A confirmed booking gets a seat in the other class and leaves its own, in one transaction, and keeps its id. It costs what cancelling costs now, and what the new seat costs; credits that are returned count for the new seat. If the move is refused, for example because the class is full, the member keeps the old seat. `max_late_fee` and `allow_credit_forfeit` limit what the caller accepts.
   *
   * Required scopes: `bookings:write` and `bookings:cancel`.
   *
   * Refused with `booking_not_movable`, `same_class`, `class_not_bookable`, `already_booked`, `already_waitlisted`, `already_held`, `member_not_eligible`, `spot_required`, `spot_taken`, `class_full`, `cancellation_terms_changed`.
   */
  rescheduleBooking(bookingId: string, params: RescheduleBookingParams): Promise<BookingReschedule> {
    return this.#transport.send(OPERATIONS.rescheduleBooking, [bookingId], params);
  }

  /**
   * Preview a move.
   *
   * Runs every check of a move and reports each result with the present price, without writing anything.
   *
   * Required scope: `bookings:read`.
   */
  previewReschedule(bookingId: string, params: PreviewRescheduleParams): Promise<BookingReschedulePreview> {
    return this.#transport.send(OPERATIONS.previewReschedule, [bookingId], params);
  }

  /**
   * List the moves of a booking.
   *
   * Oldest first. `booking` is the booking as it is now, in every row.
   *
   * Required scope: `bookings:read`.
   */
  listReschedules(bookingId: string, params: ListReschedulesParams = {}): Promise<BookingRescheduleList> {
    return this.#transport.send(OPERATIONS.listReschedules, [bookingId], params);
  }

  /** Every row of `listReschedules`, page by page as you loop. */
  iterReschedules(bookingId: string, params: ListReschedulesParams = {}): AsyncGenerator<BookingReschedule, void, void> {
    return allRows((page) => this.listReschedules(bookingId, { ...params, ...page }), params);
  }

  /**
   * List waitlist entries.
   *
   * Oldest first. `position` is the order within a class.
   *
   * Required scope: `bookings:read`.
   */
  listWaitlist(params: ListWaitlistParams = {}): Promise<WaitlistEntryList> {
    return this.#transport.send(OPERATIONS.listWaitlist, [], params);
  }

  /** Every row of `listWaitlist`, page by page as you loop. */
  iterWaitlist(params: ListWaitlistParams = {}): AsyncGenerator<WaitlistEntry, void, void> {
    return allRows((page) => this.listWaitlist({ ...params, ...page }), params);
  }

  /**
   * Get a waitlist entry.
   *
   * Required scope: `bookings:read`.
   */
  getWaitlistEntry(waitlistId: string, params: CallOptions = {}): Promise<WaitlistEntry> {
    return this.#transport.send(OPERATIONS.getWaitlistEntry, [waitlistId], params);
  }

  /**
   * List purchases.
   *
   * Oldest first. A key limited to locations sees only purchases made there.
   *
   * Required scope: `purchases:read`.
   */
  listPurchases(params: ListPurchasesParams = {}): Promise<PurchaseList> {
    return this.#transport.send(OPERATIONS.listPurchases, [], params);
  }

  /** Every row of `listPurchases`, page by page as you loop. */
  iterPurchases(params: ListPurchasesParams = {}): AsyncGenerator<Purchase, void, void> {
    return allRows((page) => this.listPurchases({ ...params, ...page }), params);
  }

  /**
   * Get a purchase.
   *
   * Required scope: `purchases:read`.
   */
  getPurchase(purchaseId: string, params: CallOptions = {}): Promise<Purchase> {
    return this.#transport.send(OPERATIONS.getPurchase, [purchaseId], params);
  }

  /**
   * List published forms.
   *
   * With `include_drafts`, also draft and archived forms; this needs the scope forms:write.
   *
   * Required scope: `forms:read`.
   */
  listForms(params: ListFormsParams = {}): Promise<FormList> {
    return this.#transport.send(OPERATIONS.listForms, [], params);
  }

  /** Every row of `listForms`, page by page as you loop. */
  iterForms(params: ListFormsParams = {}): AsyncGenerator<Form, void, void> {
    return allRows((page) => this.listForms({ ...params, ...page }), params);
  }

  /**
   * Create a form.
   *
   * Unknown properties of fields and settings are stored and returned.
   *
   * Required scope: `forms:write`.
   *
   * Refused with `slug_taken`.
   */
  createForm(params: CreateFormParams): Promise<Form> {
    return this.#transport.send(OPERATIONS.createForm, [], params);
  }

  /**
   * Read a form.
   *
   * Required scope: `forms:read`.
   */
  getForm(formId: string, params: CallOptions = {}): Promise<Form> {
    return this.#transport.send(OPERATIONS.getForm, [formId], params);
  }

  /**
   * Update a form.
   *
   * Omitted properties stay unchanged; `fields` and `settings` are replaced as a whole.
   *
   * Required scope: `forms:write`.
   *
   * Refused with `slug_taken`, `invalid_state_transition`.
   */
  updateForm(formId: string, params: UpdateFormParams = {}): Promise<Form> {
    return this.#transport.send(OPERATIONS.updateForm, [formId], params);
  }

  /**
   * Evaluate answers without submitting them.
   *
   * Returns the visible and required fields, and every problem a submission would have.
   *
   * Required scope: `forms:read`.
   */
  evaluateForm(formId: string, params: EvaluateFormParams = {}): Promise<FormEvaluation> {
    return this.#transport.send(OPERATIONS.evaluateForm, [formId], params);
  }

  /**
   * List a form's submissions.
   *
   * Required scope: `form_submissions:read`.
   */
  listSubmissions(formId: string, params: ListSubmissionsParams = {}): Promise<FormSubmissionList> {
    return this.#transport.send(OPERATIONS.listSubmissions, [formId], params);
  }

  /** Every row of `listSubmissions`, page by page as you loop. */
  iterSubmissions(formId: string, params: ListSubmissionsParams = {}): AsyncGenerator<FormSubmission, void, void> {
    return allRows((page) => this.listSubmissions(formId, { ...params, ...page }), params);
  }

  /**
   * Submit answers to a form.
   *
   * Only answers for visible fields are accepted.
   *
   * Required scope: `form_submissions:write`.
   *
   * Refused with `form_not_published`, `form_closed`, `submission_limit_reached`, `already_submitted`.
   */
  createSubmission(formId: string, params: CreateSubmissionParams): Promise<FormSubmission> {
    return this.#transport.send(OPERATIONS.createSubmission, [formId], params);
  }

  /**
   * Read a submission.
   *
   * Required scope: `form_submissions:read`.
   */
  getSubmission(formId: string, submissionId: string, params: CallOptions = {}): Promise<FormSubmission> {
    return this.#transport.send(OPERATIONS.getSubmission, [formId, submissionId], params);
  }

  /**
   * List leads.
   *
   * Required scope: `leads:read`.
   */
  listLeads(params: ListLeadsParams = {}): Promise<LeadList> {
    return this.#transport.send(OPERATIONS.listLeads, [], params);
  }

  /** Every row of `listLeads`, page by page as you loop. */
  iterLeads(params: ListLeadsParams = {}): AsyncGenerator<Lead, void, void> {
    return allRows((page) => this.listLeads({ ...params, ...page }), params);
  }

  /**
   * Create or identify a lead.
   *
   * Leads are unique per normalized email. `created` tells whether the lead is new.
   *
   * Required scope: `leads:write`.
   */
  createLead(params: CreateLeadParams): Promise<MutationResult> {
    return this.#transport.send(OPERATIONS.createLead, [], params);
  }

  /**
   * Read a lead.
   *
   * Required scope: `leads:read`.
   */
  getLead(leadId: string, params: CallOptions = {}): Promise<Lead> {
    return this.#transport.send(OPERATIONS.getLead, [leadId], params);
  }

  /**
   * Update a lead.
   *
   * PATCH and POST …/update are the same operation. Omitted properties stay unchanged.
   *
   * Required scope: `leads:write`.
   *
   * Refused with `invalid_state_transition`, `lead_exists`.
   */
  updateLead(leadId: string, params: UpdateLeadParams = {}): Promise<MutationResult> {
    return this.#transport.send(OPERATIONS.updateLead, [leadId], params);
  }

  /**
   * Update a lead by POST.
   *
   * PATCH and POST …/update are the same operation. Omitted properties stay unchanged.
   *
   * Required scope: `leads:write`.
   *
   * Refused with `invalid_state_transition`, `lead_exists`.
   */
  updateLeadByPost(leadId: string, params: UpdateLeadByPostParams = {}): Promise<MutationResult> {
    return this.#transport.send(OPERATIONS.updateLeadByPost, [leadId], params);
  }

  /**
   * List your client's webhook endpoints.
   *
   * Required scope: `webhooks:read`.
   */
  listWebhookEndpoints(params: ListWebhookEndpointsParams = {}): Promise<WebhookEndpointList> {
    return this.#transport.send(OPERATIONS.listWebhookEndpoints, [], params);
  }

  /** Every row of `listWebhookEndpoints`, page by page as you loop. */
  iterWebhookEndpoints(params: ListWebhookEndpointsParams = {}): AsyncGenerator<WebhookEndpoint, void, void> {
    return allRows((page) => this.listWebhookEndpoints({ ...params, ...page }), params);
  }

  /**
   * Create a webhook endpoint.
   *
   * The response contains the signing secret. It is not shown again until you rotate it.
   *
   * Required scope: `webhooks:write`.
   *
   * Refused with `too_many_endpoints`.
   */
  createWebhookEndpoint(params: CreateWebhookEndpointParams): Promise<WebhookEndpointWithSecret> {
    return this.#transport.send(OPERATIONS.createWebhookEndpoint, [], params);
  }

  /**
   * Get a webhook endpoint.
   *
   * Required scope: `webhooks:read`.
   */
  getWebhookEndpoint(endpointId: string, params: CallOptions = {}): Promise<WebhookEndpoint> {
    return this.#transport.send(OPERATIONS.getWebhookEndpoint, [endpointId], params);
  }

  /**
   * Change, disable or enable a webhook endpoint.
   *
   * Use `recover` to get the events that were created while the endpoint was disabled.
   *
   * Required scope: `webhooks:write`.
   */
  updateWebhookEndpoint(endpointId: string, params: UpdateWebhookEndpointParams = {}): Promise<WebhookEndpoint> {
    return this.#transport.send(OPERATIONS.updateWebhookEndpoint, [endpointId], params);
  }

  /**
   * Delete a webhook endpoint.
   *
   * Required scope: `webhooks:write`.
   */
  deleteWebhookEndpoint(endpointId: string, params: WriteOptions = {}): Promise<void> {
    return this.#transport.send(OPERATIONS.deleteWebhookEndpoint, [endpointId], params);
  }

  /**
   * Rotate the signing secret.
   *
   * Both secrets sign until the overlap ends. The default overlap is one day. At most five secrets sign at once; the oldest one expires first.
   *
   * Required scope: `webhooks:write`.
   */
  rotateWebhookSecret(endpointId: string, params: RotateWebhookSecretParams = {}): Promise<WebhookEndpointWithSecret> {
    return this.#transport.send(OPERATIONS.rotateWebhookSecret, [endpointId], params);
  }

  /**
   * Send a test event to this endpoint only.
   *
   * Required scope: `webhooks:write`.
   *
   * Refused with `endpoint_disabled`.
   */
  testWebhookEndpoint(endpointId: string, params: WriteOptions = {}): Promise<WebhookDelivery> {
    return this.#transport.send(OPERATIONS.testWebhookEndpoint, [endpointId], params);
  }

  /**
   * Send what the endpoint missed since a given time.
   *
   * Sends every event created at `since` or later that the endpoint subscribes to, may see and has not received. Dead deliveries are retried. Events without a delivery get the next `webhook-sequence` numbers, including events from before the endpoint existed. Deliveries that succeeded or are still being retried are left alone. It runs in the background; use the returned id to follow its progress.
   *
   * Required scope: `webhooks:write`.
   *
   * Refused with `endpoint_disabled`, `recovery_in_progress`.
   */
  recoverWebhookEndpoint(endpointId: string, params: RecoverWebhookEndpointParams): Promise<WebhookRecovery> {
    return this.#transport.send(OPERATIONS.recoverWebhookEndpoint, [endpointId], params);
  }

  /**
   * Get a recovery.
   *
   * `offered` counts the deliveries that were created or retried so far. It grows while the status is `running`. With `done` everything was offered; each delivery shows whether it succeeded.
   *
   * Required scope: `webhooks:read`.
   */
  getWebhookRecovery(endpointId: string, recoveryId: string, params: CallOptions = {}): Promise<WebhookRecovery> {
    return this.#transport.send(OPERATIONS.getWebhookRecovery, [endpointId, recoveryId], params);
  }

  /**
   * List an endpoint's deliveries.
   *
   * Each delivery has its latest attempts, up to 20, and their responses. `status=dead` lists deliveries that were given up.
   *
   * Required scope: `webhooks:read`.
   */
  listWebhookDeliveries(endpointId: string, params: ListWebhookDeliveriesParams = {}): Promise<WebhookDeliveryList> {
    return this.#transport.send(OPERATIONS.listWebhookDeliveries, [endpointId], params);
  }

  /** Every row of `listWebhookDeliveries`, page by page as you loop. */
  iterWebhookDeliveries(endpointId: string, params: ListWebhookDeliveriesParams = {}): AsyncGenerator<WebhookDelivery, void, void> {
    return allRows((page) => this.listWebhookDeliveries(endpointId, { ...params, ...page }), params);
  }

  /**
   * Count what a recovery would send.
   *
   * Among the first 5,000 events since then.
   *
   * Required scope: `webhooks:read`.
   */
  countMissedEvents(endpointId: string, params: CountMissedEventsParams): Promise<MissedEvents> {
    return this.#transport.send(OPERATIONS.countMissedEvents, [endpointId], params);
  }

  /**
   * List how your endpoints are doing.
   *
   * A word for each, attempts by the hour, the last error, and when the next attempt is due.
   *
   * Required scope: `webhooks:read`.
   */
  listWebhookHealth(params: ListWebhookHealthParams = {}): Promise<EndpointHealthList> {
    return this.#transport.send(OPERATIONS.listWebhookHealth, [], params);
  }

  /** Every row of `listWebhookHealth`, page by page as you loop. */
  iterWebhookHealth(params: ListWebhookHealthParams = {}): AsyncGenerator<EndpointHealth, void, void> {
    return allRows((page) => this.listWebhookHealth({ ...params, ...page }), params);
  }

  /**
   * List the deliveries of an event.
   *
   * To those of your client's endpoints that see no more than your key does.
   *
   * Required scope: `webhooks:read`.
   */
  listDeliveriesOfEvent(params: ListDeliveriesOfEventParams): Promise<WebhookDeliveryList> {
    return this.#transport.send(OPERATIONS.listDeliveriesOfEvent, [], params);
  }

  /** Every row of `listDeliveriesOfEvent`, page by page as you loop. */
  iterDeliveriesOfEvent(params: ListDeliveriesOfEventParams): AsyncGenerator<WebhookDelivery, void, void> {
    return allRows((page) => this.listDeliveriesOfEvent({ ...params, ...page }), params);
  }

  /**
   * Get a delivery.
   *
   * Each attempt with the headers that sign it, and with the first headers of the response.
   *
   * Required scope: `webhooks:read`.
   */
  getWebhookDelivery(deliveryId: string, params: CallOptions = {}): Promise<WebhookDeliveryWithHeaders> {
    return this.#transport.send(OPERATIONS.getWebhookDelivery, [deliveryId], params);
  }

  /**
   * Retry a delivery now.
   *
   * Required scope: `webhooks:write`.
   *
   * Refused with `endpoint_disabled`.
   */
  retryWebhookDelivery(deliveryId: string, params: WriteOptions = {}): Promise<WebhookDelivery> {
    return this.#transport.send(OPERATIONS.retryWebhookDelivery, [deliveryId], params);
  }

  /**
   * List events in order, or wait for the next one.
   *
   * The events that the key may see, kept for 30 days. Use `after_sequence` to catch up, and `wait` to follow: a page comes as soon as there is an event. Even a key that may see everything misses some numbers: a change that keys see differently has an event for each audience, and you get only your own. A skipped number is not a missing event.
   *
   * Required scope: `webhooks:read`.
   *
   * Refused with `events_expired`, `too_many_waits`.
   */
  listEvents(params: ListEventsParams = {}): Promise<EventList> {
    return this.#transport.send(OPERATIONS.listEvents, [], params);
  }

  /** Every row of `listEvents`, page by page as you loop. */
  iterEvents(params: ListEventsParams = {}): AsyncGenerator<Event, void, void> {
    return allRows((page) => this.listEvents({ ...params, ...page }), params);
  }

  /**
   * Get an event.
   *
   * Required scope: `webhooks:read`.
   */
  getEvent(eventId: string, params: CallOptions = {}): Promise<Event> {
    return this.#transport.send(OPERATIONS.getEvent, [eventId], params);
  }

  /**
   * List the kinds of event.
   *
   * All kinds on one page, each with its scope, its JSON Schema and an example.
   *
   * Required scope: `webhooks:read`.
   */
  listEventTypes(params: CallOptions = {}): Promise<EventTypes> {
    return this.#transport.send(OPERATIONS.listEventTypes, [], params);
  }
}
