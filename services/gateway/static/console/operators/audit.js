// Audit: what operators and staff changed.
import { code, field, section, select } from "../dom.js";
import { pagedTable } from "../tables.js";
import { moment } from "../times.js";

export const title = "Audit";

export async function render({ place, api, params }) {
  const days = params.get("days") || "1";
  const since = new Date(Date.now() - Number(days) * 86400000).toISOString();
  place.append(section("Writes by operators and staff", field("Since", select([["1", "a day ago"], ["7", "a week ago"], ["365", "a year ago"]], days, (chosen) => { location.hash = `#/audit?days=${chosen}`; })),
    await pagedTable("Oldest first, times in UTC", [["At", (row) => moment(row.at, "UTC")], ["Actor", (row) => row.actor], ["Action", (row) => code(row.action)], ["Target", (row) => row.target && code(row.target)], ["Request", (row) => code(row.request_id)]],
      (cursor) => api.get("/audit", { since, cursor }), "Nothing was changed.")));
}
