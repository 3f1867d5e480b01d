// Partners: a card for each client; a client's page with keys, limits, endpoints and requests.
import { facts, tabs } from "../ui/detail-pane.js";
import { chips, confirm, field, openDialog, search } from "../ui/controls.js";
import { copyButton, copyChip, counted, dot, empty, failed, go, href, html, icon, kindOf, Load, meter, method, nothing, panel, Piece, pill, toast, withQuery } from "../ui/element.js";
import { poll } from "../ui/live.js";
import { lasting } from "../ui/time.js";
import { readHealth } from "../partner/endpoints.js";
import { adviceFor, meansOf } from "../partner/reference.js";
import { whereOf } from "../partner/sentences.js";
import { countsOf } from "../partner/traffic.js";
import { keySheet, scopeText, showSecret } from "./keys.js";

const LINK = 600000; // a link is good for ten minutes, the session that it opens for longer
const live = (key) => !key.revoked_at && (!key.expires_at || new Date(key.expires_at) > Date.now());
const keyState = (key) => (key.revoked_at ? "revoked" : live(key) ? "live" : "expired");
const traffic = (app, client, window, signal) => countsOf(app.root, { client: client.id, studio: app.studio.id, window, source: "key" }, signal);
async function readAll(app, signal) {
  const query = { studio: app.studio.id }, options = { signal };
  const [clients, keys, endpoints, locations] = await Promise.all([app.root.get("/clients", query, options), app.root.get("/keys", query, options), app.api.all("/webhook-endpoints", {}, 1000, options), app.names.list("locations")]), health = await readHealth(app, signal);
  const owner = new Map(keys.data.map((key) => [key.id, key.client_id]));
  return { locations, clients: clients.data.map((client) => ({ ...client, keys: keys.data.filter((key) => key.client_id === client.id), endpoints: endpoints.rows.filter((row) => owner.get(row.key_id) === client.id).map((row) => ({ ...row, word: row.status === "disabled" ? "disabled" : health.get(row.id)?.word || "idle" })) })) };
}
const lastUsed = (client) => client.keys.map((key) => key.last_used_at).filter(Boolean).sort().at(-1);
const bars = (value, height = 40) => html`<st-bars .points=${value.points} .kinds=${["good", "warn", "bad"]} .names=${["ok", "4xx", "5xx"]} label="Requests" height=${height}></st-bars>`;
const figures = (value) => html`${counted(value.total, "request")} · ${(value.total ? (value.errors / value.total) * 100 : 0).toFixed(1)} % errors${value.p95 === null ? "" : ` · p95 ${lasting(value.p95)}`}`;

class Partners extends Piece {
  static properties = { app: {}, route: {} };
  connectedCallback() {
    super.connectedCallback();
    this.counts = new Map();
    this.all = new Load(this, () => readAll(this.app, this.signal));
    this.all.run().then((value) => (value?.clients || []).slice(0, 24).forEach((client) => { const load = new Load(this, () => traffic(this.app, client, "24h", this.signal)); this.counts.set(client.id, load); load.run(); }));
  }
  add() { keySheet(this.app, { locations: this.all.value?.locations, done: (key) => go(href("partners", [key.client_id])) }); }
  card(client) {
    const counts = this.counts.get(client.id), used = lastUsed(client), alive = client.keys.filter(live).length;
    return html`<article class="card endpoint"><h2><a href=${href("partners", [client.id])}>${client.name}</a></h2><p class="soft">${alive} live ${alive === 1 ? "key" : "keys"} · ${used ? html`used <st-time .at=${used}></st-time>` : "never used"}</p>
      ${counts ? panel(counts, (value) => html`${bars(value)}<p class="faint">${figures(value)}, last 24 h</p>`, { lines: 2 }) : nothing}
      <p class="soft">${client.endpoints.length ? html`${client.endpoints.slice(0, 12).map((one) => dot(one.word, `${one.description || whereOf(one.url)}: ${one.word}`))} ${client.endpoints.length} ${client.endpoints.length === 1 ? "endpoint" : "endpoints"}` : "No endpoint"}</p></article>`;
  }
  render() {
    return html`<div class="sheet-page"><div class="head"><h1 class="grow">Partners</h1><button class="btn main" @click=${() => this.add()}>${icon("plus")}New partner</button></div>
      ${panel(this.all, ({ clients }) => html`<div class="cards">${clients.map((client) => this.card(client))}</div>`, { isEmpty: ({ clients }) => !clients.length, empty: empty("No partner works with this studio yet.", html`<button class="btn main" @click=${() => this.add()}>Issue the first key</button>`) })}</div>`;
  }
}
customElements.define("ops-partners", Partners);

class Client extends Piece {
  static properties = { app: {}, route: {} };
  connectedCallback() {
    super.connectedCallback();
    this.all = new Load(this, () => readAll(this.app, this.signal));
    this.week = new Load(this, () => traffic(this.app, this.client, "7d", this.signal));
    this.request = new Load(this, (id) => this.app.root.get("/requests", { request_id: id }, { signal: this.signal }).then(({ data: [row] }) => row || null));
    this.all.run().then(() => this.client && this.week.run());
    poll(() => this.follow(), this.signal, { fast: 3, slow: 30 });
  }
  get client() { return this.all.value?.clients.find((one) => one.id === this.route.parts[0]); }
  get list() { return this.querySelector("st-list"); }
  willUpdate(changed) {
    if (!changed.has("route")) return;
    const [, tab, id] = this.route.parts, wanted = JSON.stringify(this.route.query);
    if (tab === "requests" && id !== this.shownId) { this.request.clear(); if (id) this.request.run(id); }
    if (this.wanted !== undefined && this.wanted !== wanted) this.updateComplete.then(() => this.list?.reload());
    Object.assign(this, { shownId: id, wanted });
  }
  ask(cursor) { const { status, id } = this.route.query; return this.app.root.get("/requests", { client: this.client.id, studio: this.app.studio.id, status_class: status, request_id: id, source: id ? undefined : "key", limit: 50, cursor }, { signal: this.signal }); }
  async follow() { return Boolean(this.list?.items && this.client) && this.list.prepend((await this.ask()).data); }
  async rotate(key) {
    if (!await confirm(`Rotate ${key.name}?`, "A second key with the same scopes is issued. The old one works for 24 hours more.", "Rotate", { danger: false })) return;
    try { const made = await this.app.root.post(`/keys/${key.id}/rotate`, {}); showSecret(`New key of ${key.name}`, made.key, "The old one works for 24 hours more.", () => this.all.run()); } catch (error) { failed(error); }
  }
  async revoke(key) {
    if (!await confirm(`Revoke ${key.name}?`, "Requests with it are refused at once, and its console sessions end. Its endpoints stay.", "Revoke it")) return;
    try { await this.app.root.post(`/keys/${key.id}/revoke`, {}); toast(`${key.name} is revoked.`); } catch (error) { failed(error); }
    this.all.run();
  }
  async link(client) {
    let made;
    try { made = await this.app.root.post(`/clients/${client.id}/console-sessions`, {}); } catch (error) { return failed(error); }
    const until = Date.now() + LINK;
    const left = () => {
      const seconds = Math.max(0, Math.round((until - Date.now()) / 1000));
      return seconds ? `valid for ${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}` : "no longer valid";
    };
    const ticking = setInterval(() => dialog.redraw(), 1000);
    const dialog = openDialog(`Console of ${client.name}`, () => html`
      <p>Whoever opens this link works in the partner's console for an hour, with the rights of its newest key. It opens once.</p>
      <div class="secret">
        <input class="mono" readonly aria-label="Link" data-first .value=${made.url} @focus=${(event) => event.target.select()}>
        <p class="row">${copyButton(made.url, "Copy", "btn main")}<span class="soft" role="timer">${left()}</span></p>
      </div>`, { wide: true, onclose: () => clearInterval(ticking) });
  }
  keys(client) {
    const places = new Map(this.all.value.locations.map((row) => [row.id, row.name]));
    const add = () => keySheet(this.app, { client, locations: this.all.value.locations, done: () => this.all.run() });
    const names = ["Key", "Scopes", "Locations", "Expires", "Last used", html`<span class="gone">Actions</span>`];
    const row = (key) => html`<tr class=${live(key) ? "" : "soft"}>
      <th scope="row">${dot(keyState(key))} ${key.name}<br><code class="faint">${key.prefix}…</code>
        ${live(key) ? nothing : pill(keyState(key), "idle")}</th>
      <td data-label="Scopes" title=${key.scopes.join(", ")}>${scopeText(key.scopes)}</td>
      <td data-label="Locations">${key.location_ids === null ? "All" : key.location_ids.map((id) => places.get(id) || "one that is gone").join(", ")}</td>
      <td data-label="Expires">${key.expires_at ? html`<st-time day .at=${key.expires_at}></st-time>` : "Never"}</td>
      <td data-label="Last used">${key.last_used_at ? html`<st-time .at=${key.last_used_at}></st-time>` : "Never"}</td>
      <td>${live(key) ? html`<span class="row nowrap">
        <button class="btn small" aria-label="Rotate ${key.name}" @click=${() => this.rotate(key)}>Rotate</button>
        <button class="btn small danger" aria-label="Revoke ${key.name}" @click=${() => this.revoke(key)}>Revoke</button></span>` : nothing}</td></tr>`;
    return html`<p class="row acts"><button class="btn main" @click=${add}>${icon("plus")}New key</button></p>
      ${client.keys.length ? html`<div class="card table-wrap"><table class="keys-table">
        <thead><tr>${names.map((name) => html`<th scope="col">${name}</th>`)}</tr></thead>
        <tbody>${client.keys.toSorted((a, b) => live(b) - live(a)).map(row)}</tbody></table></div>` : empty("No key yet.")}`;
  }
  limits(client) {
    const save = async (event) => {
      event.preventDefault();
      const { rate, burst } = event.target.elements;
      try { await this.app.root.patch(`/clients/${client.id}`, { rate: Number(rate.value), burst: Number(burst.value) }); toast("The limits hold within seconds."); this.all.run(); } catch (error) { failed(error); }
    };
    return html`<div class="two-columns"><section class="card"><h2>Limits</h2><form class="stack" @submit=${save}>${field("Requests a second", html`<input name="rate" type="number" min="0.1" step="any" required .value=${String(client.rate)} ?disabled=${!this.app.operator}>`, { hint: "On the long run, all keys together." })}${field("At once", html`<input name="burst" type="number" min="1" required .value=${String(client.burst)} ?disabled=${!this.app.operator}>`, { hint: "How many may come in one moment after a rest." })}
      ${this.app.operator ? html`<p><button class="btn main">Save</button></p>` : html`<p class="note">Whoever runs the system sets them.</p>`}</form></section>
      <section class="card"><h2>Last 7 days</h2>${panel(this.week, (value) => html`${bars(value, 60)}<p class="soft">${figures(value)}</p><p>Busiest three hours: <strong>${value.peak}</strong> of ${client.rate} a second</p>${meter(value.peak, client.rate, `${value.peak} of ${client.rate} requests a second`, value.peak > client.rate * 0.8 ? "warn" : "good")}`, { lines: 3 })}</section></div>`;
  }
  endpoints(client) {
    return client.endpoints.length ? html`<ul class="list card flush">${client.endpoints.map((row) => html`<li><a class="item" href=${href("deliveries", [], { endpoint: row.id, show: "all" })}>${dot(row.word)}<span class="one main-line">${row.description || whereOf(row.url)}</span><span class="right">${pill(row.word)}</span><span class="one two soft mono">${whereOf(row.url)}</span><span class="right two faint">${row.event_types.length ? `${row.event_types.length} types` : "all types"}</span></a></li>`)}</ul>` : empty("This partner has no endpoint.", html`<button class="btn" @click=${() => this.link(client)}>Console link</button>`);
  }
  shownRequest(row) {
    if (!row) return html`<p class="soft">No request with this id in the last seven days.</p>`;
    const outcome = html`<span class=${kindOf(row.status)}>${row.status} ${row.error_code || ""}</span>`;
    return html`<h2>${method(row.method)} ${row.route || "unknown path"} → ${outcome}</h2>
      ${row.error_code ? html`<p class="notice">${meansOf(row.status)} ${adviceFor(row.error_code, row.status)}</p>` : nothing}
      ${facts([
        ["Sent", html`<st-time .at=${row.at}></st-time> ${copyChip(row.at, "time", "ISO")}`], ["Took", lasting(row.duration_ms)],
        ["Request", copyChip(row.request_id, "request's id")], ["Key", html`${row.key_name} <code>${row.key_prefix}…</code>`],
        ["Sent by", row.source === "console" ? "A console session" : "The integration"]])}`;
  }
  requestRow(row) {
    const what = row.error_code ? html`<code class=${kindOf(row.status)}>${row.error_code}</code>` : row.key_name;
    return html`${dot(row.status, `${row.status}`)}
      <span class="one">${method(row.method)} <span class="main-line">${row.route || "unknown path"}</span></span>
      <span class="right">${pill(row.status)}</span><span class="one two soft">${what}</span>
      <span class="right two faint">${lasting(row.duration_ms)} · <st-time .at=${row.at}></st-time></span>`;
  }
  requests(client) {
    const { query } = this.route, pick = (changes) => go(withQuery({ ...this.route, parts: [client.id, "requests"] }, changes));
    const classes = ["2xx", "4xx", "5xx"].map((name) => [name, name]);
    return html`<div class="row acts">${chips("Status", [["", "All"], ...classes], query.status || "", (status) => pick({ status }))}
        <span class="grow"></span>${search("Request id", query.id || "", (id) => pick({ id }))}</div>
      ${this.shownId ? html`<section class="card" aria-label="Request">${panel(this.request, (row) => this.shownRequest(row))}</section>` : nothing}
      <div class="card flush"><st-list label="Requests" .load=${(cursor) => this.ask(cursor)} .keyOf=${(row) => row.request_id}
        .to=${(row) => href("partners", [client.id, "requests", row.request_id], query)} .selected=${this.shownId}
        .row=${(row) => this.requestRow(row)}
        .none=${empty("No request fits.", html`<a class="btn" href=${href("partners", [client.id, "requests"])}>Show all</a>`)}></st-list></div>`;
  }
  render() {
    const tab = this.route.parts[1] || "keys";
    return html`<div class="sheet-page">${panel(this.all, () => {
      const { client } = this;
      if (!client) return empty("This partner is not known here.", html`<a class="btn" href=${href("partners")}>All partners</a>`);
      const to = (name) => href("partners", [client.id, name]);
      return html`<p class="crumbs flat"><a href=${href("partners")}>Partners</a></p><div class="head"><h1 class="grow">${client.name}</h1>${copyChip(client.id, "client's id")}<button class="btn" @click=${() => this.link(client)}>Console link</button></div>
        ${tabs("Partner", [["keys", `Keys ${client.keys.filter(live).length}`, to("keys")], ["limits", "Limits", to("limits")], ["endpoints", `Endpoints ${client.endpoints.length}`, to("endpoints")], ["requests", "Requests", to("requests")]], tab)}
        ${tab === "keys" ? this.keys(client) : tab === "limits" ? this.limits(client) : tab === "endpoints" ? this.endpoints(client) : this.requests(client)}`;
    })}</div>`;
  }
}
customElements.define("ops-client", Client);
