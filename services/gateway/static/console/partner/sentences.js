// One sentence for each type of event: what happened, in the studio's words. Names come from the object and from what is known.
import { clock, dayWord } from "../ui/time.js";
import { personName } from "./names.js";

const when = (row) => (row ? `, ${dayWord(row.start_time)} ${clock(row.start_time)}` : "");
const klass = (names, id) => { const row = names.get("class", id); return row ? `${row.title}${when(row)}` : "a class"; };
const member = (names, id) => personName(names.get("member", id)) || "A member";
const said = (word) => String(word || "").replaceAll("_", " ");
const booked = (verb) => (o, names) => `${member(names, o.member_id)} ${verb} ${klass(names, o.class_id)}`;
const titled = (rest) => (o) => `${o.title}${when(o)} ${rest}`;
const named = (what, verb) => (o) => `${what} ${o.name || o.title || o.email || ""} ${verb}`.replace("  ", " ");

const TABLE = {
  "booking.created": (o, names) => `${member(names, o.member_id)} ${o.status === "waitlisted" ? `waits for` : "booked"} ${klass(names, o.class_id)}`,
  "booking.confirmed": booked("got a seat in"), "booking.cancelled": booked("left"), "booking.checked_in": booked("is in at"), "booking.no_show": booked("did not come to"),
  "booking.expired": booked("no longer waits for"), "booking.updated": booked("has a corrected booking of"), "booking.held": booked("holds a seat in"), "booking.rescheduled": booked("moved to"),
  "waitlist.updated": (o, names) => (o.status === "waiting" ? `${member(names, o.member_id)} is number ${o.position} for ${klass(names, o.class_id)}` : `${member(names, o.member_id)} left the waitlist of ${klass(names, o.class_id)}`),
  "class.created": titled("is on the schedule"), "class.updated": titled("was changed"), "class.cancelled": titled("was cancelled"), "class.full": titled("is full"), "class.reopened": titled("has a free seat again"),
  "member.created": (o) => `${personName(o)} joined`, "member.updated": (o) => `${personName(o)} was changed`, "member.erased": () => "A member was erased",
  "membership.created": (o, names) => `${member(names, o.member_id)} has a new membership`, "membership.updated": (o, names) => `${member(names, o.member_id)}'s membership is ${said(o.status)}`,
  "purchase.created": (o, names) => `${member(names, o.member_id)} bought ${said(o.product_key || o.product_type)}`, "purchase.updated": (o, names) => `A purchase of ${member(names, o.member_id)} is ${said(o.status)}`,
  "lead.created": (o) => `${o.first_name || o.email || "Somebody"} from ${o.source || "elsewhere"} is a lead`, "lead.updated": (o) => `The lead ${o.first_name || o.email || ""} is ${said(o.status)}`, "lead.erased": () => "A lead was erased",
  "form.created": named("The form", "was made"), "form.updated": named("The form", "was changed"), "form.submitted": () => "A form was filled in", "submission.updated": () => "A filled-in form was reviewed",
  "studio.updated": named("The studio", "was changed"), "webhook.test": () => "Test event", "webhook_endpoint.disabled": (o) => `${o.description || hostOf(o.url)} was disabled`,
};
const PLAIN = { location: "The location", room: "The room", class_type: "The class type", instructor: "The instructor", product: "The product" };

export function sentence(event, names) {
  const object = (event.data && event.data.object) || {};
  const known = TABLE[event.type];
  if (known) return known(object, names);
  const [family, verb] = event.type.split(".");
  return `${PLAIN[family] || said(family)} ${object.name || ""} was ${said(verb)}`.replace("  ", " ");
}
export const familyOf = (type) => type.split(".")[0];
const ICONS = { booking: "check", waitlist: "today", class: "schedule", member: "person", membership: "key", purchase: "cart", lead: "person", form: "form", submission: "form", studio: "studios", location: "studios", room: "studios", class_type: "tag", instructor: "person", product: "tag", webhook: "webhooks", webhook_endpoint: "webhooks" };
export const iconOf = (type) => (/cancelled|no_show|erased|disabled/.test(type) ? "close" : null) || ICONS[familyOf(type)] || "events";

export function hostOf(url) { try { return new URL(url).host; } catch { return url; } }
export function whereOf(url) { try { const { host, pathname } = new URL(url); return host + (pathname === "/" ? "" : pathname); } catch { return url; } }
export const endpointName = (endpoint) => (endpoint ? endpoint.description || hostOf(endpoint.url) : "an endpoint");
