// Events: the log, live. It waits for what comes after the newest one, and pauses while the page is hidden.
import { badge, button, code, field, h, input, json, section } from "../dom.js";
import { repeat } from "../live.js";
import { guarded } from "../shell.js";
import { table } from "../tables.js";
import { moment } from "../times.js";

export const title = "Events";
const SHOWN = 100;

export async function render(view) {
  const { place, api, may, params, zone, signal } = view;
  if (!may("webhooks:read")) return void place.append(section("Events", h("p", {}, "This session lacks the scope webhooks:read.")));
  if (params.get("id")) return one(view, params.get("id"));
  const type = params.get("type") || "";
  const kind = input({ type: "search", value: type, placeholder: "booking.created" });
  const state = h("span", { role: "status", class: "who" }, "Live");
  const rows = table("Newest first", [
    ["Sequence", (event) => String(event.sequence)], ["At", (event) => moment(event.created_at, zone)], ["Type", (event) => code(event.type)],
    ["About", (event) => `${event.resource.object} ${event.resource.id.slice(0, 8)}`],
    ["Actions", (event) => h("a", { href: `#/events?id=${event.id}`, "aria-label": `Show event ${event.sequence}` }, "Show")],
  ], [], "No events yet. What happens in the studio appears here.");
  place.append(section("What happened",
    h("form", { class: "row", onsubmit: (event) => { event.preventDefault(); location.hash = `#/events?${new URLSearchParams({ type: kind.value.trim() })}`; } },
      field("Type", kind), button("Filter", null, { type: "submit" }), state), rows));
  let last = null;
  function show(found) {
    const before = [...rows.body.children];
    rows.body.replaceChildren();
    rows.add(found);
    rows.body.append(...before);
    while (rows.body.children.length > SHOWN) rows.body.lastChild.remove();
    rows.add([]);
  }
  async function follow(shown = signal) {
    try {
      if (last === null) {
        const newest = await api.get("/events", { order: "desc", type, limit: SHOWN }, { signal });
        rows.body.replaceChildren();
        show(newest.data);
        last = newest.latest_sequence;
        state.textContent = "Live";
        return;
      }
      const page = await api.get("/events", { after_sequence: last, type, limit: 100, wait: 20 }, { signal: shown, quiet: true });
      last = page.has_more ? page.data.at(-1).sequence : page.latest_sequence;
      show(page.data.toReversed());
      state.textContent = "Live";
    } catch (error) {
      if (error.code === "events_expired") last = null;
      if (!shown.aborted) state.textContent = `Paused: ${error.message}`;
    }
  }
  await follow();
  repeat(follow, 1, signal);
}

async function one({ place, api, zone }, id) {
  const event = await api.get(`/events/${encodeURIComponent(id)}`);
  const found = h("div", {});
  place.append(
    h("p", {}, h("a", { href: "#/events" }, "All events")),
    section(event.type, h("p", {}, `Sequence ${event.sequence}, ${moment(event.created_at, zone)}`, event.request_id && [", request ", h("a", { href: `#/requests?request_id=${encodeURIComponent(event.request_id)}` }, event.request_id)]), json(event)),
    section("Its deliveries", found));
  await guarded(found, async () => {
    const { rows } = await api.all("/webhook-endpoints");
    const lists = await Promise.all(rows.slice(0, 20).map(async (endpoint) => ({ endpoint, page: await api.get(`/webhook-endpoints/${endpoint.id}/deliveries`, { limit: 200 }) })));
    const deliveries = lists.flatMap(({ endpoint, page }) => page.data.filter((row) => row.event_id === event.id).map((row) => ({ ...row, url: endpoint.url })));
    found.append(table("Deliveries of this event", [["Endpoint", (row) => h("a", { href: `#/webhooks?id=${row.endpoint_id}` }, row.url)], ["Status", (row) => badge(row.status)], ["Attempts", (row) => String(row.attempt_count)]], deliveries, "No endpoint has received it."));
  })();
}
