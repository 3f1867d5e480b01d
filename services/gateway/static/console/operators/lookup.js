// Whatever was typed into the palette: a member's name, email or phone, or a pasted id
// of a request, booking, class, member, delivery, event or client.
import { html } from "../vendor/lit.js";
import { openDialog } from "../ui/controls.js";
import { toast } from "../ui/toast.js";
import { go, href, UUID } from "../ui/route.js";
import { dayAndTime } from "../ui/time.js";
import { has } from "../desk/acts.js";
import { sentence } from "../partner/sentences.js";

export async function lookup(app, text) {
  const { api, root, manager, studio } = app, one = encodeURIComponent(text), found = [];
  const ask = (asked, made) => found.push(asked.then(made, () => null));
  const person = (row) => ({ text: row.name, hint: `member · ${has(row)}`, icon: "person", to: href("members", [row.id]) });
  const classEntry = (row, hint = "class") => ({ text: `${row.title} · ${dayAndTime(row.start_time)}`, hint, icon: "schedule", to: href("today", [row.id]) });
  if (manager && /^[\w.:-]{6,128}$/.test(text)) ask(root.get("/requests", { request_id: text }), ({ data: [row] }) => row && { text: `${row.method} ${row.route || ""} → ${row.status}`, hint: `request of ${row.client_name}`, icon: "requests", run: () => openRequest(app, row) });
  if (studio && UUID.test(text)) {
    ask(api.get(`/members/${one}`), person);
    ask(api.get(`/classes/${one}`), (row) => classEntry(row));
    if (manager) {
      ask(api.get(`/webhook-deliveries/${one}`), (row) => ({ text: `Delivery of ${row.event_type}, ${row.status}`, hint: "delivery", icon: "deliveries", to: href("deliveries", [row.id]) }));
      ask(api.get(`/events/${one}`), (row) => ({ text: sentence(row, app.names), hint: row.type, icon: "events", run: () => showEvent(app, row) }));
    }
    ask(api.get(`/bookings/${one}`).then(async (row) => classEntry(await api.get(`/classes/${row.class_id}`), `booking, ${row.status}`)), (row) => row);
  } else if (studio) ask(api.get("/members", { q: text, limit: 6 }), ({ data }) => data.map(person));
  if (manager && studio) ask(root.get("/clients", { studio: studio.id }), ({ data }) => data.filter((row) => row.id === text || row.name.toLowerCase().includes(text.toLowerCase())).slice(0, 4).map((row) => ({ text: row.name, hint: "partner", icon: "partners", to: href("partners", [row.id]) })));
  found.push(Promise.resolve(app.studios.filter((row) => row !== studio && row.name.toLowerCase().includes(text.toLowerCase())).slice(0, 4).map((row) => ({ text: row.name, hint: "studio", icon: "studios", run: () => app.choose(row) }))));
  return (await Promise.all(found)).flat().filter(Boolean);
}
// The page of what an entry of the audit log names, by the family of the action. A waitlist entry, a membership and a purchase have none.
const PAGES = { members: (id) => ["members", [id]], classes: (id) => ["today", [id]], clients: (id) => ["partners", [id]], "webhook-deliveries": (id) => ["deliveries", [id]],
  "webhook-endpoints": (id) => ["deliveries", [], { endpoint: id, show: "all" }], "staff-tokens": () => ["team"], studios: () => ["today"], import: () => ["transfer"], keys: null, bookings: null };
export const hasPage = ({ action, target }) => Boolean(target) && Object.hasOwn(PAGES, action.split(".")[0]);
export async function openTarget(app, { action, target, studio_id }) {
  const studio = app.studios.find((one) => one.id === studio_id), [family] = action.split(".");
  if (studio && studio.id !== app.studio?.id) app.choose(studio);
  if (PAGES[family]) return go(href(...PAGES[family](target)));
  try {
    if (family === "bookings") return go(href("today", [(await app.api.get(`/bookings/${target}`)).class_id]));
    const { data } = await app.root.get("/keys", { studio: studio_id });
    go(href("partners", [data.find((one) => one.id === target).client_id]));
  } catch { toast("It cannot be opened: it is no longer there.", { kind: "bad" }); }
}
export function showEvent(app, event) {
  openDialog(sentence(event, app.names), () => html`<p class="soft"><code>${event.type}</code> #${event.sequence}</p>
    <st-json .value=${event} label="Event"></st-json>`, { wide: true });
}
// A request may be of another studio than the one that is worked on.
function openRequest(app, row) {
  const studio = app.studios.find((one) => one.id === row.studio_id);
  if (studio && studio.id !== app.studio?.id) app.choose(studio);
  location.hash = href("partners", [row.client_id, "requests", row.request_id]);
}
