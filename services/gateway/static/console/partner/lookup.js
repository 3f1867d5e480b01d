// Whatever was pasted into the palette: a request, an event, a delivery, an endpoint, a booking, a class, or a member's email.
import { href, UUID } from "../ui/route.js";
import { day, dayAndTime } from "../ui/time.js";
import { endpointName, sentence } from "./sentences.js";
import { personName } from "./names.js";

export async function lookup({ api, may, names }, text) {
  const ask = (scope, path, made) => (!scope || may(scope) ? api.get(path).then(made, () => null) : null);
  const one = encodeURIComponent(text);
  const classEntry = (row) => ({ text: `${row.title} · ${dayAndTime(row.start_time)}`, hint: "class", icon: "schedule", to: href("schedule", [], { day: day(row.start_time), class: row.id }) });
  const asked = [/^[\w.:-]{6,128}$/.test(text) && ask(null, `/requests?request_id=${one}`, ({ data: [row] }) => row && { text: `${row.method} ${row.route || ""} → ${row.status}`, hint: "request", icon: "requests", to: href("requests", [row.request_id]) })];
  if (UUID.test(text)) {
    asked.push(
      ask("webhooks:read", `/events/${one}`, (row) => ({ text: sentence(row, names), hint: row.type, icon: "events", to: href("events", [row.id]) })),
      ask("webhooks:read", `/webhook-deliveries/${one}`, (row) => ({ text: `Delivery of ${row.event_type}, ${row.status}`, hint: "delivery", icon: "deliveries", to: href("webhooks", [row.endpoint_id, row.id]) })),
      ask("webhooks:read", `/webhook-endpoints/${one}`, (row) => ({ text: endpointName(row), hint: "endpoint", icon: "webhooks", to: href("webhooks", [row.id]) })),
      ask("schedule:read", `/classes/${one}`, classEntry),
      ask("bookings:read", `/bookings/${one}`, async (row) => ({ ...classEntry(await api.get(`/classes/${row.class_id}`)), hint: `booking, ${row.status}`, icon: "check" })),
      ask("members:read", `/members/${one}`, (row) => ({ text: personName(row), hint: "member: their events", icon: "person", to: href("events", [], { resource: row.id }) })));
  }
  if (text.includes("@")) asked.push(ask("members:read", `/members?email=${one}`, ({ data: [row] }) => row && { text: personName(row), hint: "member: their events", icon: "person", to: href("events", [], { resource: row.id }) }));
  return (await Promise.all(asked)).filter(Boolean);
}
