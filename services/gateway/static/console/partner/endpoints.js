// Webhooks: a card for each endpoint with its health. A row of the list may carry `health`; where it does not, the newest deliveries tell it.
import { html, nothing } from "../vendor/lit.js";
import { confirm, menu } from "../ui/dialog.js";
import { empty, Load, panel, Piece } from "../ui/element.js";
import { toggle } from "../ui/filter-bar.js";
import { poll } from "../ui/live.js";
import { icon, state } from "../ui/marks.js";
import { go, href } from "../ui/route.js";
import { clock, relative } from "../ui/time.js";
import { failed, toast } from "../ui/toast.js";
import { endpointSheet, secretDialog, sendTest } from "./endpoint-sheet.js";
import { outcomeOf } from "./outcomes.js";
import { endpointName, whereOf } from "./sentences.js";
import { buckets, percentile } from "./traffic.js";
import "../ui/charts.js";

const DAY = 86400;
// { word, kind, told, points, waiting, since, error, p95, share, total, breaker }
export function healthFrom(endpoint, rows, more) {
  const { step, first, points } = buckets(DAY, 24);
  const times = [];
  let good = 0, total = 0, waiting = 0, oldest = null, last = null, since = null;
  for (const row of rows) { // newest first
    const kind = { succeeded: 0, failing: 1, dead: 1, pending: 2 }[outcomeOf(row)];
    const point = points[Math.floor((new Date(row.created_at) - first) / step)];
    if (point) point.values[kind === 2 ? 1 : kind] += 1;
    if (row.status === "pending") { waiting += 1; oldest = row; }
    const attempt = row.attempts.at(-1);
    if (attempt) {
      last ||= { row, attempt };
      times.push(attempt.duration_ms);
      total += 1;
      if (row.status === "succeeded") good += 1;
    }
  }
  for (const row of rows) { if (row.status === "succeeded") break; if (row.attempts.length) since = row.attempts[0].at; }
  const newest = rows.find((row) => row.attempts.length);
  const failing = endpoint.status === "enabled" && Boolean(newest && newest.status !== "succeeded");
  return { failing, since, total, share: total ? good / total : null, p95: percentile(times, 0.95), points, waiting, capped: more, oldest: oldest && oldest.created_at, error: failing && last ? last.attempt : null, next: failing ? oldest && oldest.next_attempt_at : null };
}
// The API's health in the words of this page.
function healthGiven(health) {
  const points = (health.hours || health.bars || []).map((one) => ({ at: one.at || one.hour, values: [one.succeeded || 0, one.failed || 0] }));
  const total = points.reduce((sum, one) => sum + one.values[0] + one.values[1], 0);
  return { failing: health.state === "failing" || health.failing === true, since: health.failing_since || null, total, share: total ? points.reduce((sum, one) => sum + one.values[0], 0) / total : null, p95: health.p95_ms ?? null, points, waiting: health.waiting ?? health.pending ?? 0, oldest: health.oldest_waiting_at || null, error: health.last_error || null, next: health.next_trial_at || health.paused_until || null };
}
export async function readHealth(app, endpoint, signal) {
  if (endpoint.health) return healthGiven(endpoint.health);
  const page = await app.api.get(`/webhook-endpoints/${endpoint.id}/deliveries`, { order: "desc", limit: 200 }, { signal, quiet: true });
  app.outcomes.learn(page.data);
  const rows = page.data;
  // While an endpoint is paused, new deliveries are not tried: the oldest that waits has the error.
  if (rows.some((row) => row.status === "pending") && !rows.some((row) => row.attempts.length)) rows.push(...(await app.api.get(`/webhook-endpoints/${endpoint.id}/deliveries`, { status: "pending", limit: 5 }, { signal, quiet: true })).data.filter((row) => row.attempts.length).reverse());
  return healthFrom(endpoint, rows, page.has_more);
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
  if (health.failing) return state("failing", `Failing${health.since ? ` since ${clock(health.since)}` : ""}${health.waiting ? ` · ${health.waiting}${health.capped ? "+" : ""} waiting` : ""}`);
  if (health.share === null) return state("idle", "Nothing sent yet");
  return state("healthy", "Healthy");
}
export const healthFigures = (health) => (health && health.share !== null ? `${share(health.share)} of ${health.total.toLocaleString("en")}${health.capped ? " newest" : ""}${health.p95 !== null ? ` · p95 ${health.p95} ms` : ""}` : "");
export const pausedPill = (health) => (health?.failing && health.next ? html`<span class="pill warn">${new Date(health.next) > Date.now() ? html`next try <st-time .at=${health.next}></st-time>` : "paused until it answers"}</span>` : nothing);

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
    const rows = await this.rows.run();
    const before = JSON.stringify([...this.health.values()].map((one) => [one.failing, one.total, one.waiting]));
    await Promise.all((rows || []).slice(0, 20).map(async (row) => { try { this.health.set(row.id, await readHealth(this.app, row, this.signal)); } catch { /* its card has no figures */ } }));
    this.app.setFailing([...this.health.values()].filter((one) => one.failing).length);
    this.requestUpdate();
    return [...this.health.values()].some((one) => one.waiting) || before !== JSON.stringify([...this.health.values()].map((one) => [one.failing, one.total, one.waiting]));
  }
  add() { endpointSheet(this.app, { done: () => this.refresh() }); }
  card(row) {
    const health = this.health.get(row.id), acts = endpointActs(this.app, row, () => this.refresh());
    const write = this.app.may("webhooks:write");
    return html`<li class="card endpoint ${health?.failing ? "failing" : ""}"><div class="row"><h2 class="grow"><a href=${href("webhooks", [row.id])}>${endpointName(row)}</a></h2>${write ? html`${toggle(`${endpointName(row)} is enabled`, row.status === "enabled", acts.enable)}${endpointMenu(acts)}` : nothing}</div>
      <p class="soft mono where">${whereOf(row.url)}</p>
      <p class="row">${healthWord(row, health)}<span class="soft">${healthFigures(health)}</span></p>
      ${health ? html`<st-bars .points=${health.points} .kinds=${["good", "bad"]} .names=${["delivered", "failed"]} label="Deliveries of ${endpointName(row)}" height="36"></st-bars>` : html`<div class="skeleton"><i class="w0"></i></div>`}
      <p class="faint">${health?.error ? html`<span class="bad">${errorText(health.error)}</span> · ` : nothing}${health?.oldest ? `oldest waiting ${relative(health.oldest)} · ` : ""}${row.event_types.length ? `${row.event_types.length} event type${row.event_types.length > 1 ? "s" : ""}` : "every event type"}${row.fifo ? " · in order" : ""}</p></li>`;
  }
  render() {
    return html`<div class="sheet-page"><div class="head"><h1>Webhooks</h1><span class="grow"></span>${this.app.may("webhooks:write") ? html`<button class="btn main" @click=${() => this.add()}>${icon("plus")} Add endpoint</button>` : nothing}</div>
      ${panel(this.rows, (rows) => html`<ul class="cards">${rows.slice(0, 100).map((row) => this.card(row))}</ul>${rows.length > 100 ? html`<p class="soft">The first 100 of ${rows.length}${rows.length === 400 ? "+" : ""}. Paste an endpoint's id into the search for another.</p>` : nothing}`,
        { isEmpty: (rows) => !rows.length, empty: html`<div class="card">${empty("No endpoint yet. Add one, and every event reaches your server as a signed POST.", this.app.may("webhooks:write") ? html`<button class="btn main" @click=${() => this.add()}>Add endpoint</button>` : nothing)}</div>`, lines: 6 })}</div>`;
  }
}
customElements.define("partner-endpoints", Endpoints);
