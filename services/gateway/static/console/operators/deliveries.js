// Deliveries of all clients of a studio.
import { badge, button, facts, field, h, section, select } from "../dom.js";
import { guarded } from "../shell.js";
import { pagedTable } from "../tables.js";
import { moment } from "../times.js";
import { chosenStudio } from "./choice.js";

export const title = "Deliveries";

export async function render(view) {
  const studio = chosenStudio(view, "deliveries");
  if (!studio) return;
  const parts = h("div", {});
  view.place.append(section("Deliveries", parts));
  await show(view, studio, parts, view.params.get("status") || "dead");
}

async function show(view, studio, place, status) {
  const { api } = view;
  const endpoints = new Map((await api.all(`${studio.path}/webhook-endpoints`)).rows.map((row) => [row.id, row.url]));
  const result = h("div", { role: "status" });
  const retry = (row) => guarded(result, async () => { await api.post(`${studio.path}/webhook-deliveries/${row.id}/retry`); result.replaceChildren("Queued for an attempt now."); });
  const again = (chosen) => show(view, studio, place, chosen);
  place.replaceChildren(h("div", { class: "row" }, field("Status", select([["", "all"], ["pending", "pending"], ["succeeded", "succeeded"], ["dead", "dead"]], status, again)), button("Refresh", () => again(status))), result,
    await pagedTable(`Times in ${studio.zone}`, [["Endpoint", (row) => endpoints.get(row.endpoint_id) || row.endpoint_id], ["Event", (row) => row.event_type], ["Status", (row) => badge(row.status)], ["Created", (row) => moment(row.created_at, studio.zone)], ["Attempts", (row) => attempts(row, studio.zone)], ["Actions", (row) => button("Retry", retry(row), { "aria-label": `Retry delivery ${row.sequence}` })]],
      (cursor) => api.get(`${studio.path}/webhook-deliveries`, { status, cursor }), "No matching deliveries."));
}

function attempts(row, zone) {
  if (!row.attempts || !row.attempts.length) return String(row.attempt_count || 0);
  const last = row.attempts.at(-1);
  return h("details", {}, h("summary", {}, `${row.attempt_count}, last: ${last.response_status ?? last.error ?? "no answer"}`),
    row.attempts.map((one) => h("div", {}, facts([["At", moment(one.at, zone)], ["Took", `${one.duration_ms} ms`], ["Answer", one.response_status === null ? one.error : String(one.response_status)]]),
      one.response_body && h("pre", { class: "json", tabindex: "0" }, one.response_body))));
}
