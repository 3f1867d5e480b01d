// Requests: what the integration sent, newest first; a request with its explanation and the events that it caused.
import { crumbs, facts, split } from "../ui/detail-pane.js";
import { copyButton, copyChip, dot, empty, go, href, html, kindOf, Load, method, nothing, panel, Piece, pill, withQuery } from "../ui/element.js";
import { chips, choice, search } from "../ui/controls.js";
import { poll } from "../ui/live.js";
import { clock, dayWord, lasting } from "../ui/time.js";
import { eventRow } from "./events.js";
import { adviceFor, here, meansOf, reference } from "./reference.js";
import { SPANS, spanStart } from "./traffic.js";

const FILTERS = ["status", "route", "error", "source", "span", "from", "to"];
class Requests extends Piece {
  static properties = { app: {}, route: {} };
  connectedCallback() {
    super.connectedCallback();
    const { app } = this;
    this.traffic = new Load(this, () => app.traffic.of(this.span, this.signal));
    this.one = new Load(this, (id) => this.find(id));
    this.caused = new Load(this, (id) => (app.may("webhooks:read") ? app.api.get("/events", { request_id: id, limit: 50 }, { signal: this.signal }).then((page) => page.data) : null));
    this.ops = new Load(this, () => reference());
    this.codes = new Load(this, () => app.traffic.codes(this.signal));
    this.codes.run();
    this.ops.run();
    this.traffic.run();
    this.nudge = poll(() => this.follow(), this.signal, { fast: 2, slow: 25 });
  }
  get query() {
    const { status, route, error, source } = this.route.query;
    return { status_class: status, route: route && route.split(" ").at(-1), error_code: error, source: source === "all" ? undefined : source || "key" };
  }
  get span() { return SPANS[this.route.query.span] ? this.route.query.span : "24h"; }
  get from() { return this.route.query.from || spanStart(this.span); }
  get list() { return this.querySelector("st-list"); }
  fits(row) {
    const { route, to } = this.route.query;
    return (!route || !route.includes(" ") || row.method === route.split(" ")[0]) && row.at >= this.from && (!to || row.at < to);
  }
  // A method and a range are no filters of the API: rows are passed over until some fit.
  async load(cursor) {
    for (let round = 0; ; round += 1) {
      const page = await this.app.api.get("/requests", { ...this.query, limit: 50, cursor }, { signal: this.signal });
      const past = page.data.length && page.data.at(-1).at < this.from;
      const data = page.data.filter((row) => this.fits(row));
      if (data.length || !page.next_cursor || past || round === 8) return { data, next_cursor: past ? null : page.next_cursor };
      cursor = page.next_cursor;
    }
  }
  async follow() {
    if (!this.list?.items || this.list.error) return false;
    const page = await this.app.api.get("/requests", { ...this.query, limit: 50 }, { signal: this.signal });
    const changed = this.list.prepend(page.data.filter((row) => this.fits(row)));
    if (changed) this.traffic.run();
    return changed;
  }
  // A request is in the log a second or two after its response.
  async find(id) {
    for (let round = 0; ; round += 1) {
      const { data: [row] } = await this.app.api.get("/requests", { request_id: id }, { signal: this.signal });
      if (row || round === 4) return row || null;
      await new Promise((done) => setTimeout(done, 700));
    }
  }
  willUpdate(changed) {
    if (!changed.has("route")) return;
    if (changed.get("route") && changed.get("route").query.span !== this.route.query.span) { this.traffic.clear(); this.traffic.run(); }
    const [id] = this.route.parts, filters = JSON.stringify(FILTERS.map((name) => this.route.query[name]));
    if (id !== this.shownId) {
      this.shownId = id;
      this.one.clear();
      this.caused.clear();
      const row = this.list?.items?.find((one) => one.request_id === id);
      if (id) { if (row) this.one.set(row); else this.one.run(id); this.caused.run(id); }
    }
    if (this.filters !== undefined && filters !== this.filters) this.updateComplete.then(() => this.list.reload());
    this.filters = filters;
  }
  pick(changes) { go(withQuery({ ...this.route, parts: [] }, changes)); }
  row(row) {
    const slow = Math.min(100, Math.log10(Math.max(1, row.duration_ms)) * 25);
    return html`${dot(row.status, `${row.status}`)}<span class="one">${method(row.method)} <span class="main-line">${row.route || "unknown path"}</span></span><span class="right">${pill(row.status)}</span>
      <span class="one two soft">${row.error_code ? html`<code class=${kindOf(row.status)}>${row.error_code}</code>` : this.ops.value?.get(`${row.method} ${row.route}`)?.summary || ""}${row.source === "console" ? html` <span class="faint">this console</span>` : nothing}</span>
      <span class="right two faint"><svg class="speed" width="40" height="4" aria-hidden="true"><rect class="track" width="40" height="4" rx="2"></rect><rect class=${row.duration_ms > 500 ? "bar-warn" : "bar-idle"} width="${slow}%" height="4" rx="2"></rect></svg> ${lasting(row.duration_ms)} · <st-time .at=${row.at}></st-time></span>`;
  }
  side() {
    const { query } = this.route;
    const routes = [...(this.ops.value || new Map()).keys()];
    const sums = this.traffic.value?.sums || [];
    return html`<div class="side-head"><div class="row"><h1>Requests</h1><span class="grow"></span>${chips("Span", Object.keys(SPANS).map((name) => [name, name]), this.span, (span) => this.pick({ span, from: "", to: "" }))}</div>
      ${panel(this.traffic, (value) => html`<st-bars pick .points=${value.points} .kinds=${["good", "warn", "bad"]} .names=${["ok", "4xx", "5xx"]} label="Requests" height="44" @range=${({ detail }) => this.pick({ from: detail.first.at, to: new Date(new Date(detail.last.at).getTime() + detail.step).toISOString() })}></st-bars>`, { lines: 2 })}
      ${chips("Status", [["", "All"], ["2xx", "2xx", sums[0]], ["4xx", "4xx", sums[1]], ["5xx", "5xx", sums[2]]], query.status || "", (status) => this.pick({ status }))}
      <div class="row filters">${choice("Route", [["", "Any route"], ...routes.map((name) => [name, name])], query.route || "", (route) => this.pick({ route }))}
        ${choice("Error code", [["", "Any code"], ...[...new Set([...(this.codes.value || []).map(({ code }) => code), ...(query.error ? [query.error] : [])])].map((code) => [code, code])], query.error || "", (error) => this.pick({ error }))}
        ${choice("Source", [["", "Integration"], ["console", "This console"], ["all", "Both"]], query.source || "", (source) => this.pick({ source }))}</div>
      ${search("Request id", "", (text) => text && go(href("requests", [text], query)))}
      ${query.from ? html`<p class="row"><span class="pill idle">${dayWord(query.from)} ${clock(query.from)} – ${clock(query.to)}</span><button class="link" @click=${() => this.pick({ from: "", to: "" })}>Whole span</button></p>` : nothing}</div>
      <st-list label="Requests" .load=${(cursor) => this.load(cursor)} .row=${(row) => this.row(row)} .keyOf=${(row) => row.request_id} .to=${(row) => href("requests", [row.request_id], query)} .selected=${this.route.parts[0]}
        .none=${this.none()}></st-list>`;
  }
  none() {
    const { span, ...filters } = this.route.query;
    if (Object.keys(filters).length) return empty("No request fits.", html`<a class="btn" href=${href("requests", [], { span })}>Show all</a>`);
    if (this.span !== "7d") return empty(`No request in the last ${SPANS[this.span]}.`, html`<a class="btn" href=${href("requests", [], { span: "7d" })}>Show 7 days</a>`);
    return empty("No request in the last 7 days. Send the first one with your key.", html`<a class="btn" href=${href("home")}>Get started</a>`);
  }
  detail(row) {
    if (!row) return empty("No request with this id in the last seven days.", html`<a class="btn" href=${href("requests")}>All requests</a>`);
    const op = this.ops.value?.get(`${row.method} ${row.route}`), curl = op?.samples.find((one) => one.label === "curl");
    const events = this.caused.value || [];
    return html`${crumbs([[`Request ${row.method} ${row.route || ""} ${row.status}`, null], events[0] && [`Event ${events[0].type}${events.length > 1 ? ` + ${events.length - 1}` : ""}`, href("events", [events[0].id])]])}
      <h1>${method(row.method)} ${row.route || "unknown path"} <span class="faint">→</span> <span class=${kindOf(row.status)}>${row.status} ${row.error_code || ""}</span></h1>
      ${row.error_code ? html`<p class="${kindOf(row.status) === "bad" ? "problem flat" : "notice"}">${op?.errors[row.error_code] || meansOf(row.status)} ${adviceFor(row.error_code, row.status)} ${op ? html`<a href="/docs#${op.id}/error/${row.error_code}" target="_blank" rel="noopener">${row.error_code} in the reference</a>` : nothing}</p>` : nothing}
      <p class="row acts">${curl ? copyButton(() => here(curl.source), "Copy as curl") : nothing}${op ? html`<a class="btn" href="/docs#${op.id}" target="_blank" rel="noopener">${op.summary}</a>` : nothing}<a class="btn" href=${href("requests", [], { route: `${row.method} ${row.route}`, span: this.route.query.span })}>Requests like this</a></p>
      ${facts([["Sent", html`<st-time .at=${row.at}></st-time> ${copyChip(row.at, "time", "ISO")}`], ["Took", lasting(row.duration_ms)], ["Request", copyChip(row.request_id, "request's id")], ["Key", html`${row.key_name || (row.key_id === this.app.key.id ? this.app.key.name : nothing)} ${row.key_prefix ? html`<code>${row.key_prefix.slice(0, 14)}…</code>` : nothing} ${copyChip(row.key_id, "key's id")}`], ["Sent by", row.source === "console" ? "A session of this console" : "Your integration"], ["Replayed", row.replayed && "Yes, the first response was sent again"]])}
      <h2 class="over-line">Caused</h2>${panel(this.caused, (rows) => html`<ul class="list card flush" aria-label="Events of this request">${rows.map((event) => html`<li><a class="item" href=${href("events", [event.id])}>${eventRow(this.app, event)}</a></li>`)}</ul>`,
        { isEmpty: (rows) => !rows || !rows.length, empty: html`<p class="note">${row.method === "GET" ? "A read causes no event." : row.status >= 400 ? "A refused request changes nothing." : "No event that this key may see."}</p>` })}`;
  }
  render() {
    const [id] = this.route.parts;
    return split({ side: this.side(), label: "Request", close: href("requests", [], this.route.query), pane: id ? panel(this.one, (row) => this.detail(row)) : null, hint: html`<p>Choose a request to see what it caused.<br><span class="faint">↑ ↓ move · Enter opens · Esc closes</span></p>` });
  }
}
customElements.define("partner-requests", Requests);
