// Webhooks: a card for each endpoint with its health.
import { confirm, menu, toggle } from "../ui/controls.js";
import { empty, failed, go, href, html, icon, Load, nothing, panel, Piece, state, toast } from "../ui/element.js";
import { poll } from "../ui/live.js";
import { relative, sinceText } from "../ui/time.js";
import { endpointSheet, secretDialog, sendTest } from "./endpoint-sheet.js";
import { endpointName, whereOf } from "./sentences.js";

// Every endpoint's health by its id: { failing, since, share, total, p95, points, waiting, oldest, error, next, word }
export async function readHealth(app, signal, endpoint_id) {
  const { data } = await app.api.get("/webhook-health", { endpoint_id, limit: 100 }, { signal });
  return new Map(data.map((row) => [row.id, { url: row.url, description: row.description, status: row.health === "disabled" ? "disabled" : "enabled", word: row.health, failing: row.health === "failing", since: row.failing_since, total: row.succeeded + row.failed, share: row.succeeded + row.failed ? row.succeeded / (row.succeeded + row.failed) : null,
    p95: row.p95_ms, points: row.hours.map((hour) => ({ at: hour.at, values: [hour.succeeded, hour.failed] })), waiting: row.pending, dead: row.dead, capped: row.pending >= 1000, oldest: row.oldest_pending_at, error: row.health === "failing" || row.health === "degraded" ? row.last_error : null, paused: row.breaker === "open", next: row.next_attempt_at }]));
}
const share = (value) => `${(value * 100).toFixed(value > 0.999 || value < 0.001 ? 0 : 1)} %`;
// "500 could not connect to server": a JSON body's own message, else its beginning.
export function errorText(error) {
  if (!error) return "";
  if (!error.response_status) return error.error || "no answer";
  let said = error.response_body || "";
  try { const body = JSON.parse(said); said = body.message || body.error?.message || body.detail || body.error || said; } catch { /* not JSON */ }
  return `${error.response_status} ${(typeof said === "string" ? said : JSON.stringify(said)).replace(/\s+/g, " ").slice(0, 90)}`;
}
export function healthWord(endpoint, health) {
  if (endpoint.status === "disabled") return state("disabled", `Disabled${endpoint.disabled_reason ? `: ${endpoint.disabled_reason.replaceAll("_", " ")}` : ""}`);
  if (!health) return nothing;
  if (health.word === "degraded") return state("degraded", `Degraded${health.waiting ? ` · ${health.waiting} waiting` : ""}`);
  if (health.failing) return state("failing", `Failing${health.since ? ` since ${sinceText(health.since)}` : ""}${health.waiting ? ` · ${health.waiting}${health.capped ? "+" : ""} waiting` : ""}`);
  if (health.word === "idle") return state("idle", health.waiting ? `${health.waiting} waiting` : "Nothing sent in 24 h");
  return state("healthy", "Healthy");
}
export const healthFigures = (health) => (health && health.share !== null ? `${share(health.share)} of ${health.total.toLocaleString("en")} in 24 h${health.p95 !== null ? ` · p95 ${Math.round(health.p95)} ms` : ""}` : "");
const due = (at) => (new Date(at) > Date.now() ? html`<st-time .at=${at}></st-time>` : "now");
export const pausedPill = (health) => (health?.failing && health.next
  ? html`<span class="pill warn">${health.paused ? "paused, " : ""}next try ${due(health.next)}</span>` : nothing);

// Acts on an endpoint, for its card and its page. `done` is called with the new row, or null when it is gone.
export const endpointActs = (app, endpoint, done) => ({
  enable: async (on) => {
    try { const row = await app.api.patch(`/webhook-endpoints/${endpoint.id}`, { status: on ? "enabled" : "disabled" }); toast(`${endpointName(endpoint)} is ${on ? "enabled" : "disabled"}.`, { action: { label: "Undo", run: () => endpointActs(app, endpoint, done).enable(!on) } }); done(row); } catch (error) { failed(error); }
  },
  test: () => sendTest(app, endpoint, { open: true }),
  edit: () => endpointSheet(app, { endpoint, done }),
  rotate: async () => {
    if (!await confirm("Rotate the secret?", "A new secret is made. The old one signs beside it for a day, so that you can change your receiver.", "Rotate", { danger: false })) return;
    try { const row = await app.api.post(`/webhook-endpoints/${endpoint.id}/rotate-secret`, {}); secretDialog(app, row); } catch (error) { failed(error); }
  },
  remove: async () => {
    if (!await confirm(`Delete ${endpointName(endpoint)}?`, "Nothing more is sent to it, and its deliveries are forgotten. This cannot be undone.", "Delete")) return;
    try { await app.api.delete(`/webhook-endpoints/${endpoint.id}`); toast(`${endpointName(endpoint)} is deleted.`); done(null); } catch (error) { failed(error); }
  },
});
export const endpointMenu = (acts) => menu("More", [["Send test event", acts.test], ["Edit", acts.edit], ["Rotate secret", acts.rotate], ["Delete", acts.remove, true]]);

class Endpoints extends Piece {
  static properties = { app: {}, route: {} };
  connectedCallback() {
    super.connectedCallback();
    this.health = new Map();
    this.rows = new Load(this, () => this.app.outcomes.listEndpoints({ again: true }));
    this.refresh();
    this.nudge = poll(() => this.refresh(), this.signal, { fast: 4, slow: 0 });
    this.app.follower?.subscribe(() => setTimeout(() => this.nudge(), 1500), this.signal);
    if (this.route.query.new) setTimeout(() => { go(href("webhooks"), { replace: true }); this.add(); });
  }
  async refresh() {
    const before = JSON.stringify([...this.health]);
    const [, health] = await Promise.all([this.rows.run(), readHealth(this.app, this.signal).catch(() => this.health)]);
    this.health = health;
    this.app.setFailing([...health.values()].filter((one) => one.failing).length);
    this.requestUpdate();
    return [...health.values()].some((one) => one.waiting) || before !== JSON.stringify([...health]);
  }
  add() { endpointSheet(this.app, { done: () => this.refresh() }); }
  card(row) {
    const health = this.health.get(row.id), acts = endpointActs(this.app, row, () => this.refresh());
    const write = this.app.may("webhooks:write");
    return html`<li class="card endpoint ${health?.failing ? "failing" : ""}"><div class="row"><h2 class="grow"><a href=${href("webhooks", [row.id])}>${endpointName(row)}</a></h2>${write ? html`${toggle(`${endpointName(row)} is enabled`, row.status === "enabled", acts.enable)}${endpointMenu(acts)}` : nothing}</div>
      <p class="soft mono where">${whereOf(row.url)}</p>
      <p class="row">${healthWord(row, health)}<span class="soft">${healthFigures(health)}</span></p>
      ${health ? html`<st-bars .points=${health.points} .kinds=${["good", "bad"]} .names=${["delivered", "failed"]} label="Deliveries of ${endpointName(row)}" height="36"></st-bars>` : nothing}
      <p class="faint">${health?.error ? html`<span class="bad">${errorText(health.error)}</span> · ` : nothing}${health?.oldest ? `oldest waiting ${relative(health.oldest)} · ` : ""}${row.event_types.length ? `${row.event_types.length} event type${row.event_types.length > 1 ? "s" : ""}` : "every event type"}${row.fifo ? " · in order" : ""}</p></li>`;
  }
  render() {
    return html`<div class="sheet-page"><div class="head"><h1>Webhooks</h1><span class="grow"></span>${this.app.may("webhooks:write") ? html`<button class="btn main" @click=${() => this.add()}>${icon("plus")} Add endpoint</button>` : nothing}</div>
      ${panel(this.rows, (rows) => html`<ul class="cards">${rows.slice(0, 100).map((row) => this.card(row))}</ul>${rows.length > 100 ? html`<p class="soft">The first 100 of ${rows.length}${rows.length === 400 ? "+" : ""}. Paste an endpoint's id into the search for another.</p>` : nothing}`,
        { isEmpty: (rows) => !rows.length, empty: html`<div class="card">${empty("No endpoint yet. Add one, and every event reaches your server as a signed POST.", this.app.may("webhooks:write") ? html`<button class="btn main" @click=${() => this.add()}>Add endpoint</button>` : nothing)}</div>`, lines: 6 })}</div>`;
  }
}
customElements.define("partner-endpoints", Endpoints);
