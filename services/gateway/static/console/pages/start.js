// Start: the key behind this session, what it may do, and three calls that work.
import { button, code, facts, h, json, section } from "../dom.js";
import { guarded } from "../shell.js";
import { moment } from "../times.js";

export const title = "Start";
const CALLS = [["/studio", {}, "studio:read"], ["/classes", { limit: 3 }, "schedule:read"], ["/products", { limit: 3 }, "catalog:read"], ["/events", { limit: 3 }, "webhooks:read"], ["/webhook-endpoints", {}, "webhooks:read"], ["/requests", { limit: 3 }, null], ["/key", {}, null]];

export async function render({ place, api, key, may, zone }) {
  place.append(
    section("The key of this session", facts([
      ["Name", key.name], ["Key", code(key.id)], ["Client", code(key.client_id)], ["Studio", code(key.studio_id)],
      ["Locations", key.location_ids === null ? "all" : key.location_ids.join(", ")],
      ["Key expires", key.expires_at === null ? "never" : moment(key.expires_at, zone)],
      ["Rate", `${key.rate_limit.requests_per_second} a second, ${key.rate_limit.burst} at once, shared by all of the client's keys`],
      ["Scopes", h("span", { class: "chips" }, key.scopes.map(code))]])),
    section("Three calls to try", ...CALLS.filter(([, , scope]) => scope === null || may(scope)).slice(0, 3).map((call) => one(api, call))));
}

function one(api, [path, query]) {
  const shown = h("div", { role: "status" });
  const run = guarded(shown, async () => shown.replaceChildren(json(await api.get(path, query))));
  return h("div", {}, h("div", { class: "row" }, code(`GET ${path}`), button("Run", run, { "aria-label": `Run GET ${path}` })), shown);
}
