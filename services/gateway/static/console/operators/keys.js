// Keys: scopes as a grid with presets, expiry, locations; a secret is shown once.
import { html, nothing } from "../vendor/lit.js";
import { copy } from "../ui/copy-chip.js";
import { chips, choice, field, openDialog, openForm } from "../ui/controls.js";
import { toast } from "../ui/toast.js";

export const AREAS = {
  studio: ["Studio and locations", "read"], schedule: ["Schedule", "read"], catalog: ["Products", "read"], members: ["Members", "read", "write"], purchases: ["Purchases", "read"],
  bookings: ["Bookings", "read", "write", "cancel"], forms: ["Forms", "read", "write"], form_submissions: ["Filled-in forms", "read", "write"], leads: ["Leads", "read", "write"], webhooks: ["Webhooks and events", "read", "write"],
};
const VERBS = ["read", "write", "cancel"];
export const SCOPES = Object.entries(AREAS).flatMap(([area, [, ...verbs]]) => verbs.map((verb) => `${area}:${verb}`));
const PRESETS = {
  "Read-only schedule": ["studio:read", "schedule:read"],
  "Booking partner": ["studio:read", "schedule:read", "catalog:read", "members:read", "members:write", "bookings:read", "bookings:write", "bookings:cancel", "webhooks:read", "webhooks:write"],
  Everything: SCOPES,
};
const same = (a, b) => a.length === b.length && a.every((one) => b.includes(one));
export const presetOf = (scopes) => Object.keys(PRESETS).find((name) => same(PRESETS[name], scopes));
export const scopeText = (scopes) => presetOf(scopes) || `${scopes.length} ${scopes.length === 1 ? "scope" : "scopes"}`;

export function scopeGrid(chosen, flip) {
  const box = (area, verb) => { const name = `${area}:${verb}`; return html`<td>${AREAS[area].includes(verb, 1) ? html`<input type="checkbox" aria-label="${AREAS[area][0]}: ${verb}" title=${name} .checked=${chosen.includes(name)} ?disabled=${!flip} @change=${() => flip(name)}>` : nothing}</td>`; };
  return html`<div class="table-wrap"><table class="scopes"><thead><tr><th scope="col">Area</th>${VERBS.map((verb) => html`<th scope="col">${verb}</th>`)}</tr></thead><tbody>${Object.entries(AREAS).map(([area, [name]]) => html`<tr><th scope="row">${name}</th>${VERBS.map((verb) => box(area, verb))}</tr>`)}</tbody></table></div>`;
}

// Shows a secret that cannot be shown again. `then` runs when it is stored.
export function showSecret(title, secret, what, then = () => {}) {
  let copied = false;
  const dialog = openDialog(title, () => html`<p>It is shown only now. ${what}</p><div class="secret"><input class="mono" readonly aria-label=${title} .value=${secret} data-first @focus=${(event) => event.target.select()}><button class="btn main" @click=${async () => { copied = await copy(secret); dialog.redraw(); }}>${copied ? "✓ Copied" : "Copy"}</button></div><p class="row end"><button class="btn" @click=${() => dialog.close()}>I have stored it</button></p>`, { wide: true, onclose: then });
}

export function keySheet(app, { client = null, locations = [], done }) {
  const form = { name: "", client: client?.name || "", scopes: [...PRESETS["Booking partner"]], days: "365", places: [] };
  const change = (changes) => { Object.assign(form, changes); dialog.redraw(); };
  const flip = (list, one) => (list.includes(one) ? list.filter((other) => other !== one) : [...list, one]);
  async function send() {
    const made = await app.root.post("/keys", { studio: app.studio.id, name: form.name || form.client, client: form.client || form.name, scopes: form.scopes, expires_in: form.days ? Number(form.days) * 86400 : null, location_ids: form.places.length ? form.places : null });
    return () => { showSecret(`Key of ${made.client_name}`, made.key, "Send it to the partner by a safe way; their server keeps it.", () => done(made)); toast(`${made.name} is issued.`); };
  }
  const dialog = openForm(client ? `New key for ${client.name}` : "New partner", () => html`
    ${client ? nothing : field("Partner", html`<input required maxlength="200" data-first .value=${form.client} @input=${(event) => change({ client: event.target.value })}>`, { hint: "All keys of a partner share one rate limit." })}
    ${field("Key name", html`<input maxlength="200" ?required=${Boolean(client)} placeholder=${form.client || "Website 2026"} .value=${form.name} @input=${(event) => change({ name: event.target.value })}>`)}
    <div class="field"><span>What it may do</span>${chips("Presets", Object.keys(PRESETS).map((name) => [name, name]), presetOf(form.scopes), (name) => change({ scopes: [...PRESETS[name]] }))}</div>${scopeGrid(form.scopes, (name) => change({ scopes: flip(form.scopes, name) }))}
    ${field("Expires", choice("Expires", [["30", "In 30 days"], ["90", "In 90 days"], ["365", "In a year"], ["", "Never"]], form.days, (days) => change({ days })))}
    ${locations.length > 1 ? html`<fieldset class="field"><legend>Locations</legend><small>None ticked: all of them.</small>${locations.map((row) => html`<label class="row"><input type="checkbox" .checked=${form.places.includes(row.id)} @change=${() => change({ places: flip(form.places, row.id) })}>${row.name}</label>`)}</fieldset>` : nothing}`, { sheet: true, cancel: true, send, verb: () => "Issue key", ready: () => form.scopes.length });
}
