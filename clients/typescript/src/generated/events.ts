// Generated from the OpenAPI document by `python -m clients.generate --write`. Do not edit.

import type {
  Booking,
  BookingReference,
  Class,
  ClassReference,
  ClassType,
  Form,
  FormReference,
  FormSubmissionReference,
  Instructor,
  Lead,
  LeadReference,
  Location,
  LocationReference,
  Member,
  MemberReference,
  Membership,
  MembershipReference,
  Product,
  Purchase,
  PurchaseReference,
  Room,
  RoomReference,
  Studio,
  WaitlistEntry,
  WaitlistReference,
  WebhookEndpoint,
  EventResource,
} from "./types.js";

/** The kinds of events that this version of the package knows. */
export const EVENT_TYPES = [
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
] as const;

/** What every event has. */
export interface EventEnvelope {
  /** The resource's id. Treat it as opaque. */
  id: string;
  /** What kind of object this is. */
  object: "event";
  /** When it happened, in UTC. */
  created_at: string;
  /** The version of the API that the event is written in. */
  api_version: string;
  /** The studio that it belongs to. */
  studio_id: string;
  /** The location that the event belongs to, or null. */
  location_id: string | null;
  /** Grows by one with each event of the studio. Store the last one and request the events after it. */
  sequence: number;
  /** What the event is about. */
  resource: EventResource;
  /** The id of the request that caused it, or null. */
  request_id: string | null;
}

/** A seat is held until `held_until`; `booking.created` follows if the hold is confirmed. */
export interface BookingHeld extends EventEnvelope {
  type: "booking.held";
  data: {
    object: Booking;
  };
}

/** A booking was created, confirmed or waitlisted, or a hold was confirmed. */
export interface BookingCreated extends EventEnvelope {
  type: "booking.created";
  data: {
    object: Booking;
  };
}

/** A waitlisted booking was confirmed; it keeps its id. */
export interface BookingConfirmed extends EventEnvelope {
  type: "booking.confirmed";
  data: {
    object: Booking;
  };
}

/** A booking was cancelled. */
export interface BookingCancelled extends EventEnvelope {
  type: "booking.cancelled";
  data: {
    object: Booking;
  };
}

/** The member has checked in. */
export interface BookingCheckedIn extends EventEnvelope {
  type: "booking.checked_in";
  data: {
    object: Booking;
  };
}

/** The member did not come. */
export interface BookingNoShow extends EventEnvelope {
  type: "booking.no_show";
  data: {
    object: Booking;
  };
}

/** The class of a waitlisted booking has started, or a hold has run out (`data.previous.status` is `held`). */
export interface BookingExpired extends EventEnvelope {
  type: "booking.expired";
  data: {
    object: Booking;
  };
}

/** A booking was moved to another class; it keeps its id. */
export interface BookingRescheduled extends EventEnvelope {
  type: "booking.rescheduled";
  data: {
    object: Booking | BookingReference;
    /** The fields that have changed, with their old values. */
    previous?: Partial<Booking> & Record<string, unknown>;
  };
}

/** A booking was corrected, for example a check-in undone. */
export interface BookingUpdated extends EventEnvelope {
  type: "booking.updated";
  data: {
    object: Booking | BookingReference;
    /** The fields that have changed, with their old values. */
    previous?: Partial<Booking> & Record<string, unknown>;
  };
}

/** A waitlist entry was added, moved or removed. */
export interface WaitlistUpdated extends EventEnvelope {
  type: "waitlist.updated";
  data: {
    object: WaitlistEntry | WaitlistReference;
  };
}

/** A class was added to the schedule. */
export interface ClassCreated extends EventEnvelope {
  type: "class.created";
  data: {
    object: Class;
  };
}

/** A class was changed, in more than its counts. */
export interface ClassUpdated extends EventEnvelope {
  type: "class.updated";
  data: {
    object: Class | ClassReference;
    /** The fields that have changed, with their old values. */
    previous?: Partial<Class> & Record<string, unknown>;
  };
}

/** A class was cancelled. */
export interface ClassCancelled extends EventEnvelope {
  type: "class.cancelled";
  data: {
    object: Class;
  };
}

/** The last seat of a class was taken. */
export interface ClassFull extends EventEnvelope {
  type: "class.full";
  data: {
    object: Class;
  };
}

/** A full class has a free seat again. */
export interface ClassReopened extends EventEnvelope {
  type: "class.reopened";
  data: {
    object: Class;
  };
}

/** A member was created. */
export interface MemberCreated extends EventEnvelope {
  type: "member.created";
  data: {
    object: Member | MemberReference;
  };
}

/** A member's profile was changed. */
export interface MemberUpdated extends EventEnvelope {
  type: "member.updated";
  data: {
    object: Member | MemberReference;
    /** The fields that have changed, with their old values. */
    previous?: Partial<Member> & Record<string, unknown>;
  };
}

/** A member was erased: delete your copy and fetch the member again. */
export interface MemberErased extends EventEnvelope {
  type: "member.erased";
  data: {
    object: MemberReference;
  };
}

/** A member has a new membership. */
export interface MembershipCreated extends EventEnvelope {
  type: "membership.created";
  data: {
    object: Membership | MembershipReference;
  };
}

/** A membership was changed, or has started or expired. */
export interface MembershipUpdated extends EventEnvelope {
  type: "membership.updated";
  data: {
    object: Membership | MembershipReference;
    /** The fields that have changed, with their old values. */
    previous?: Partial<Membership> & Record<string, unknown>;
  };
}

/** A purchase was recorded. */
export interface PurchaseCreated extends EventEnvelope {
  type: "purchase.created";
  data: {
    object: Purchase;
  };
}

/** A purchase was changed. */
export interface PurchaseUpdated extends EventEnvelope {
  type: "purchase.updated";
  data: {
    object: Purchase | PurchaseReference;
    /** The fields that have changed, with their old values. */
    previous?: Partial<Purchase> & Record<string, unknown>;
  };
}

/** A lead was created. */
export interface LeadCreated extends EventEnvelope {
  type: "lead.created";
  data: {
    object: Lead | LeadReference;
  };
}

/** A lead was changed. */
export interface LeadUpdated extends EventEnvelope {
  type: "lead.updated";
  data: {
    object: Lead | LeadReference;
  };
}

/** A lead was erased: delete your copy and fetch the lead again. */
export interface LeadErased extends EventEnvelope {
  type: "lead.erased";
  data: {
    object: LeadReference;
  };
}

/** A form was created; without `forms:write` you get this only for published forms. */
export interface FormCreated extends EventEnvelope {
  type: "form.created";
  data: {
    object: Form;
  };
}

/** A form or its status was changed; without `forms:write` you get this only for published forms. */
export interface FormUpdated extends EventEnvelope {
  type: "form.updated";
  data: {
    object: Form | FormReference;
    /** The fields that have changed, with their old values. */
    previous?: Partial<Form> & Record<string, unknown>;
  };
}

/** A form was submitted; fetch the submission by its id. */
export interface FormSubmitted extends EventEnvelope {
  type: "form.submitted";
  data: {
    object: FormSubmissionReference;
  };
}

/** A submission was reviewed, rejected or made anonymous; fetch it by its id. */
export interface SubmissionUpdated extends EventEnvelope {
  type: "submission.updated";
  data: {
    object: FormSubmissionReference;
  };
}

/** The studio was changed. */
export interface StudioUpdated extends EventEnvelope {
  type: "studio.updated";
  data: {
    object: Studio;
    /** The fields that have changed, with their old values. */
    previous?: Partial<Studio> & Record<string, unknown>;
  };
}

/** The studio has a new location. */
export interface LocationCreated extends EventEnvelope {
  type: "location.created";
  data: {
    object: Location;
  };
}

/** A location was changed. */
export interface LocationUpdated extends EventEnvelope {
  type: "location.updated";
  data: {
    object: Location | LocationReference;
    /** The fields that have changed, with their old values. */
    previous?: Partial<Location> & Record<string, unknown>;
  };
}

/** A location has a new room. */
export interface RoomCreated extends EventEnvelope {
  type: "room.created";
  data: {
    object: Room;
  };
}

/** A room was changed. */
export interface RoomUpdated extends EventEnvelope {
  type: "room.updated";
  data: {
    object: Room | RoomReference;
    /** The fields that have changed, with their old values. */
    previous?: Partial<Room> & Record<string, unknown>;
  };
}

/** The studio has a new type of class. */
export interface ClassTypeCreated extends EventEnvelope {
  type: "class_type.created";
  data: {
    object: ClassType;
  };
}

/** A class type was changed. */
export interface ClassTypeUpdated extends EventEnvelope {
  type: "class_type.updated";
  data: {
    object: ClassType;
    /** The fields that have changed, with their old values. */
    previous?: Partial<ClassType> & Record<string, unknown>;
  };
}

/** An instructor has joined; `data.active` says whether they are listed. */
export interface InstructorCreated extends EventEnvelope {
  type: "instructor.created";
  data: {
    object: Instructor;
    /** Whether the list of instructors shows them. */
    active?: boolean;
  };
}

/** An instructor was changed, has left or has come back (see `data.active`). */
export interface InstructorUpdated extends EventEnvelope {
  type: "instructor.updated";
  data: {
    object: Instructor;
    /** The fields that have changed, with their old values. */
    previous?: Partial<Instructor> & Record<string, unknown>;
    /** Whether the list of instructors shows them. */
    active?: boolean;
  };
}

/** The studio sells a new product. */
export interface ProductCreated extends EventEnvelope {
  type: "product.created";
  data: {
    object: Product;
  };
}

/** A product or one of its prices was changed. */
export interface ProductUpdated extends EventEnvelope {
  type: "product.updated";
  data: {
    object: Product;
    /** The fields that have changed, with their old values. */
    previous?: Partial<Product> & Record<string, unknown>;
  };
}

/** An endpoint of your client was disabled; sent to its other endpoints. */
export interface WebhookEndpointDisabled extends EventEnvelope {
  type: "webhook_endpoint.disabled";
  data: {
    object: WebhookEndpoint;
  };
}

/** A test event that you requested. */
export interface WebhookTest extends EventEnvelope {
  type: "webhook.test";
  data: {
    object: WebhookEndpoint;
  };
}

/** An event of a kind that is newer than this package; `raw` is all of it, with its `type`. */
export interface UnknownEvent extends EventEnvelope {
  type: "unknown";
  raw: Record<string, unknown>;
}

/** An event of any kind: `switch (event.type)` tells what `event.data.object` is. */
export type Event =
  | BookingHeld
  | BookingCreated
  | BookingConfirmed
  | BookingCancelled
  | BookingCheckedIn
  | BookingNoShow
  | BookingExpired
  | BookingRescheduled
  | BookingUpdated
  | WaitlistUpdated
  | ClassCreated
  | ClassUpdated
  | ClassCancelled
  | ClassFull
  | ClassReopened
  | MemberCreated
  | MemberUpdated
  | MemberErased
  | MembershipCreated
  | MembershipUpdated
  | PurchaseCreated
  | PurchaseUpdated
  | LeadCreated
  | LeadUpdated
  | LeadErased
  | FormCreated
  | FormUpdated
  | FormSubmitted
  | SubmissionUpdated
  | StudioUpdated
  | LocationCreated
  | LocationUpdated
  | RoomCreated
  | RoomUpdated
  | ClassTypeCreated
  | ClassTypeUpdated
  | InstructorCreated
  | InstructorUpdated
  | ProductCreated
  | ProductUpdated
  | WebhookEndpointDisabled
  | WebhookTest
  | UnknownEvent;
