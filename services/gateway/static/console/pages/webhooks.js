// Webhooks: endpoints, and for one of them its secret, deliveries, retries and recovery.
import { ask, badge, button, code, facts, field, h, input, section, select } from "../dom.js";
import { repeat } from "../live.js";
import { guarded, secretBox } from "../shell.js";
import { pagedTable } from "../tables.js";
import { moment } from "../times.js";

export const title = "Webhooks";

export async function render(view) {
  const { place, may, params } = view;
  if (!may("webhooks:read")) return void place.append(section("Webhooks", h("p", {}, "This session lacks the scope webhooks:read.")));
  await (params.get("id") ? endpointPage(view, params.get("id")) : listPage(view));
}

async function listPage({ place, api, may, zone }) {
  const list = await pagedTable("Your endpoints", [
    ["URL", (row) => h("a", { href: `#/webhooks?id=${row.id}` }, row.url)], ["Note", (row) => row.description], ["Status", (row) => badge(row.status)],
    ["Events", (row) => (row.event_types.length ? row.event_types.join(", ") : "all that the key may see")], ["Created", (row) => moment(row.created_at, zone)],
  ], (cursor) => api.get("/webhook-endpoints", { cursor }), "No endpoints yet.");
  place.append(section("Endpoints", list));
  if (may("webhooks:write")) place.append(creation(api, list));
}

function creation(api, list) {
  const url = input({ type: "url", required: true, placeholder: "https://your-server/webhooks" });
  const note = input({ type: "text", maxlength: 200 });
  const kinds = input({ type: "text", placeholder: "booking.created, booking.cancelled" });
  const result = h("div", { role: "status" });
  const create = guarded(result, async () => {
    const body = { url: url.value };
    if (note.value) body.description = note.value;
    const wanted = kinds.value.split(",").map((part) => part.trim()).filter(Boolean);
    if (wanted.length) body.event_types = wanted;
    const { secret, ...made } = await api.post("/webhook-endpoints", body);
    list.add([made]);
    result.replaceChildren(secretBox("Signing secret", secret));
  });
  return section("New endpoint", h("form", { onsubmit: (event) => { event.preventDefault(); create(event); } },
    h("div", { class: "row" }, field("URL", url), field("Note", note), field("Event types", kinds, "empty for all"), button("Create", null, { type: "submit", class: "act main" }))), result);
}

async function endpointPage(view, id) {
  const { place, api, may, zone } = view;
  const path = `/webhook-endpoints/${encodeURIComponent(id)}`;
  const endpoint = await api.get(path);
  const about = h("div", {});
  const result = h("div", { role: "status" });
  const describe = (row) => about.replaceChildren(facts([
    ["URL", row.url], ["Note", row.description], ["Status", [badge(row.status), " ", row.disabled_reason || ""]], ["Events", row.event_types.join(", ") || "all that the key may see"],
    ["In order", row.fifo ? "yes, one at a time" : "no"], ["Rate", row.rate_limit === null ? "no limit" : `${row.rate_limit} a second`], ["Created", moment(row.created_at, zone)], ["Made by key", code(row.key_id)]]));
  describe(endpoint);
  place.append(h("p", {}, h("a", { href: "#/webhooks" }, "All endpoints")), section("Endpoint", about, may("webhooks:write") && acts(view, path, endpoint, describe, result), result));
  if (may("webhooks:write")) place.append(recovery(view, path));
  const deliveries = h("div", {});
  place.append(section("Deliveries", deliveries));
  await showDeliveries(view, path, deliveries, "");
}

function acts({ api }, path, endpoint, describe, result) {
  const set = (status) => guarded(result, async () => {
    if (status === "disabled" && !(await ask("Disable the endpoint?", `${endpoint.url} will receive nothing until it is enabled again.`, "Disable it"))) return;
    describe(await api.patch(path, { status }));
  });
  return h("div", { class: "row" },
    button("Send a test", guarded(result, async () => { await api.post(`${path}/test`); result.replaceChildren("A test event is on its way; see the deliveries below."); })),
    button("Enable", set("enabled")), button("Disable", set("disabled")),
    button("Rotate the secret", guarded(result, async () => {
      if (!(await ask("Rotate the secret?", "Requests will be signed with a new secret, and for one day with the old one too.", "Rotate it"))) return;
      const { secret } = await api.post(`${path}/rotate-secret`, {});
      result.replaceChildren(secretBox("New signing secret", secret));
    })),
    button("Delete", guarded(result, async () => {
      if (!(await ask("Delete the endpoint?", `${endpoint.url} and its deliveries will be gone for good.`, "Delete it"))) return;
      await api.delete(path);
      location.hash = "#/webhooks";
    }), { class: "act danger" }));
}

function recovery({ api, signal }, path) {
  const since = input({ type: "datetime-local", required: true });
  const result = h("div", { role: "status" });
  const start = guarded(result, async () => {
    const made = await api.post(`${path}/recover`, { since: new Date(since.value).toISOString() });
    const show = (row) => result.replaceChildren(badge(row.status), ` ${row.offered} events queued so far`);
    show(made);
    const until = new AbortController();
    signal.addEventListener("abort", () => until.abort());
    repeat(async () => {
      const row = await api.get(`${path}/recoveries/${made.id}`, {}, { quiet: true });
      show(row);
      if (row.status === "done") until.abort();
    }, 1, until.signal);
  });
  return section("Send again what was missed", h("form", { class: "row", onsubmit: (event) => { event.preventDefault(); start(event); } },
    field("Events since", since, "in your browser's time zone"), button("Recover", null, { type: "submit" })), result);
}

async function showDeliveries(view, path, place, status) {
  const { api, may, zone } = view;
  const again = (chosen) => showDeliveries(view, path, place, chosen);
  const result = h("div", { role: "status" });
  const retry = (row) => guarded(result, async () => { await api.post(`/webhook-deliveries/${row.id}/retry`); result.replaceChildren("Queued for an attempt now."); });
  const list = await pagedTable("Deliveries, oldest first", [
    ["No.", (row) => String(row.sequence)], ["Event", (row) => h("a", { href: `#/events?id=${row.event_id}` }, row.event_type)], ["Status", (row) => badge(row.status)],
    ["Next try", (row) => row.next_attempt_at && moment(row.next_attempt_at, zone)], ["Attempts", (row) => attempts(row, zone)],
    ["Actions", (row) => may("webhooks:write") && button("Retry", retry(row), { "aria-label": `Retry delivery ${row.sequence}` })],
  ], (cursor) => api.get(`${path}/deliveries`, { status, cursor }), "No deliveries.");
  place.replaceChildren(h("div", { class: "row" },
    field("Status", select([["", "all"], ["pending", "pending"], ["succeeded", "succeeded"], ["dead", "dead"]], status, again)), button("Refresh", () => again(status))), result, list);
}

export function attempts(row, zone) {
  if (!row.attempts || !row.attempts.length) return String(row.attempt_count || 0);
  const last = row.attempts.at(-1);
  return h("details", {}, h("summary", {}, `${row.attempt_count}, last: ${last.response_status ?? last.error ?? "no answer"}`),
    row.attempts.map((one) => h("div", {}, facts([["At", moment(one.at, zone)], ["Took", `${one.duration_ms} ms`], ["Answer", one.response_status === null ? one.error : String(one.response_status)]]),
      one.response_body && h("pre", { class: "json", tabindex: "0" }, one.response_body))));
}
