// Requests of the client's keys and sessions in the last seven days.
import { badge, button, code, field, h, input, section, select } from "../dom.js";
import { pagedTable } from "../tables.js";
import { moment } from "../times.js";

export const title = "Requests";

export async function render({ place, api, params, zone }) {
  const id = input({ type: "search", value: params.get("request_id") || "" });
  const status = select([["", "all"], ["2xx", "2xx"], ["3xx", "3xx"], ["4xx", "4xx"], ["5xx", "5xx"]], params.get("status_class") || "");
  const apply = (event) => {
    event.preventDefault();
    location.hash = `#/requests?${new URLSearchParams({ request_id: id.value.trim(), status_class: status.value, at: Date.now() })}`;
  };
  place.append(section("Your requests, newest first",
    h("form", { class: "row", onsubmit: apply }, field("Request id", id), field("Status", status), button("Show", null, { type: "submit" })),
    await pagedTable("Requests of the last seven days", [
      ["At", (row) => moment(row.at, zone)], ["Request", (row) => code(row.request_id)], ["Method", (row) => row.method], ["Route", (row) => row.route && code(row.route)],
      ["Status", (row) => badge(row.status)], ["Error", (row) => row.error_code], ["Time", (row) => `${row.duration_ms} ms`], ["Key", (row) => code(row.key_id.slice(0, 8))],
    ], (cursor) => api.get("/requests", { request_id: params.get("request_id"), status_class: params.get("status_class"), cursor }), "No such request in the last seven days. New ones take a second or two.")));
}
