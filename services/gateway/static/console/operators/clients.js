// Clients and keys: limits, and keys created, rotated and revoked.
import { ask, badge, button, code, field, h, input, section } from "../dom.js";
import { guarded, secretBox } from "../shell.js";
import { table } from "../tables.js";
import { moment } from "../times.js";
import { chosenStudio } from "./choice.js";

export const title = "Clients and keys";

export async function render(view) {
  const studio = chosenStudio(view, "clients");
  if (!studio) return;
  const parts = h("div", { class: "page" });
  view.place.append(parts);
  await show(view, studio, parts, null);
}

async function show(view, studio, place, told) {
  const { api, operator } = view;
  const result = h("div", { role: "status" }, told);
  const again = (node) => show(view, studio, place, node);
  const [clients, keys] = await Promise.all([api.get("/clients", { studio: studio.id }), api.get("/keys", { studio: studio.id })]);
  place.replaceChildren(result, section("Keys", keyTable(api, studio, keys.data, result, again)), creation(api, studio, again),
    section("Clients", table("Clients and their limits", [["Name", (row) => row.name], ["Requests a second", (row) => String(row.rate)], ["At once", (row) => String(row.burst)], ["Held seats", (row) => row.hold_share === null ? "a third" : `${Math.round(row.hold_share * 100)} %`], ["Actions", (row) => operator && button("Set limits", limits(api, row, result, again), { "aria-label": `Set limits of ${row.name}` })]], clients.data)));
}

function keyTable(api, studio, rows, result, again) {
  const act = (verb, row, text, body, then) => guarded(result, async () => {
    if (!(await ask(`${verb} the key?`, text, `${verb} it`))) return;
    await again(then(await api.post(`/keys/${row.id}/${verb.toLowerCase()}`, body)));
  });
  const state = (row) => (row.revoked_at ? "revoked" : row.expires_at && new Date(row.expires_at) < new Date() ? "expired" : "live");
  return table(`Keys, times in ${studio.zone}`, [
    ["Name", (row) => row.name], ["Client", (row) => row.client_name], ["Key", (row) => code(`${row.prefix}_…`)], ["State", (row) => badge(state(row))], ["Scopes", (row) => String(row.scopes.length)],
    ["Last used", (row) => moment(row.last_used_at, studio.zone)], ["Expires", (row) => (row.expires_at ? moment(row.expires_at, studio.zone) : "never")],
    ["Actions", (row) => (state(row) === "live" ? [
      button("Rotate", act("Rotate", row, `A second key for ${row.client_name} will be created; ${row.name} stays valid for a day.`, { overlap: 86400 }, (made) => secretBox("New key", made.key)), { "aria-label": `Rotate ${row.name}` }), " ",
      button("Revoke", act("Revoke", row, `${row.name} of ${row.client_name} will be refused within two seconds, for good, and its console sessions end.`, {}, () => `${row.name} is revoked.`), { class: "act danger", "aria-label": `Revoke ${row.name}` })] : null)],
  ], rows);
}

function creation(api, studio, again) {
  const name = input({ type: "text", required: true });
  const client = input({ type: "text" });
  const scopes = input({ type: "text", required: true, value: "all" });
  const problem = h("div", {});
  const create = guarded(problem, async () => {
    const body = { studio: studio.id, name: name.value, scopes: scopes.value.split(",").map((part) => part.trim()).filter(Boolean) };
    if (client.value) body.client = client.value;
    const made = await api.post("/keys", body);
    await again(secretBox(`Key of ${made.client_name}`, made.key));
  });
  return section("New key", h("form", { class: "row", onsubmit: (event) => { event.preventDefault(); create(event); } }, field("Name", name), field("Client", client, "as the name unless said"), field("Scopes", scopes, "all, or a,b"), button("Issue", null, { type: "submit", class: "act main" })), problem);
}

function limits(api, row, result, again) {
  return guarded(result, async () => {
    const rate = input({ type: "number", min: "0.1", step: "any", value: row.rate });
    const burst = input({ type: "number", min: "1", value: row.burst });
    result.replaceChildren(h("form", { class: "row", onsubmit: (event) => {
      event.preventDefault();
      guarded(result, async () => { await api.patch(`/clients/${row.id}`, { rate: Number(rate.value), burst: Number(burst.value) }); await again(`${row.name} has new limits.`); })();
    } }, h("strong", {}, row.name), field("Requests a second", rate), field("At once", burst), button("Save", null, { type: "submit" })));
    rate.focus();
  });
}
