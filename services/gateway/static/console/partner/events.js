// Events: the log, live. A row is a sentence with what became of it at each endpoint; the detail has payload, deliveries and the request.
import { crumbs, facts, split, tabs } from "../ui/detail-pane.js";
import { chips, choice, openDialog } from "../ui/controls.js";
import { copyButton, copyChip, dot, empty, failed, go, href, html, icon, Load, method, nothing, panel, Piece, pill, state, toast, withQuery } from "../ui/element.js";
import { day, dayAndTime, dayWord, iso } from "../ui/time.js";
import { outcomeOf, overdue, worst } from "./outcomes.js";
import { endpointName, familyOf, iconOf, sentence } from "./sentences.js";

export const dots = (app, event) => html`<span class="dots">${app.outcomes.of(event).slice(0, 6).map((row) => dot(outcomeOf(row)))}</span>`;
export const eventRow = (app, event) => html`<span class="faint">${icon(iconOf(event.type))}</span><span class="one main-line sentence">${sentence(event, app.names)}</span><span class="right">${dots(app, event)}</span>
  <span class="one two"><code class="soft">${event.type}</code></span><span class="right two faint"><st-time .at=${event.created_at}></st-time></span>`;

const UUID = /^[0-9a-f]{8}-/i;
class Events extends Piece {
  static properties = { app: {}, route: {} };
  connectedCallback() {
    super.connectedCallback();
    const { app } = this;
    this.types = new Load(this, () => app.names.list("event-types"));
    this.types.run();
    this.one = new Load(this, (id) => app.api.get(`/events/${encodeURIComponent(id)}`, {}, { signal: this.signal }));
    this.sent = new Load(this, (id) => app.api.get("/webhook-deliveries", { event_id: id, limit: 100 }, { signal: this.signal }).then(({ data }) => { app.outcomes.learn(data); return data; }));
    this.cause = new Load(this, (id) => app.api.get("/requests", { request_id: id }, { signal: this.signal }).then(({ data: [row] }) => row || null));
    this.endpoints = new Load(this, () => app.outcomes.listEndpoints());
    this.endpoints.run();
    this.outcomes = app.outcomes.refresh(this.signal).catch(() => {});
    app.follower.subscribe((events) => this.arrived(events), this.signal);
  }
  get list() { return this.querySelector("st-list"); }
  arrived(events) {
    if (!events) return void this.list?.reload({ quiet: true });
    this.list?.prepend(events.filter((event) => this.fits(event)));
    this.app.outcomes.soon(this.signal);
  }
  fits(event) {
    const { type, family, resource, failed: bad } = this.route.query;
    const object = event.data?.object || {};
    return (!type || event.type === type) && (!family || familyOf(event.type) === family) && (!resource || [event.resource.id, object.member_id, object.class_id].includes(resource)) && (!bad || worst(this.app.outcomes.of(event)) === "bad");
  }
  // Only a type is a filter of the API: for the others, rows are passed over until some fit.
  async load(cursor) {
    if (this.route.query.failed) await this.outcomes;
    for (let round = 0; ; round += 1) {
      const page = await this.app.api.get("/events", { order: "desc", type: this.route.query.type, limit: round ? 200 : 50, cursor }, { signal: this.signal });
      if (!cursor && !round && !this.app.follower.covers(page.latest_sequence)) { round = -1; continue; }
      this.app.outcomes.keep(page.data);
      const data = page.data.filter((event) => this.fits(event));
      if (data.length || !page.next_cursor || round === 5) return { data, next_cursor: page.next_cursor };
      cursor = page.next_cursor;
    }
  }
  willUpdate(changed) {
    if (!changed.has("route")) return;
    const [id] = this.route.parts, { tab: _, ...rest } = this.route.query, filters = JSON.stringify(rest);
    if (id !== this.shownId) {
      this.shownId = id;
      for (const load of [this.one, this.sent, this.cause]) load.clear();
      if (id) this.show(id);
    }
    if (this.filters !== undefined && filters !== this.filters) this.updateComplete.then(() => this.list.reload());
    this.filters = filters;
  }
  async show(id) {
    const known = this.list?.items?.find((event) => event.id === id);
    if (known) this.one.set(known);
    this.follow(id);
    const event = known || await this.one.run(id);
    if (event?.request_id && id === this.shownId) this.cause.run(event.request_id); else this.cause.set(null);
  }
  // A delivery that is under way is looked at again until it is done.
  async follow(id) {
    const rows = await this.sent.run(id);
    const due = (rows || []).filter((row) => row.status === "pending").map((row) => new Date(row.next_attempt_at) - Date.now()).filter((wait) => wait < 60000);
    if (due.length && id === this.shownId && !this.signal.aborted) setTimeout(() => { if (id === this.shownId && !this.signal.aborted && !document.hidden) this.follow(id); }, Math.max(1500, Math.min(...due) + 800));
  }
  pick(changes) { go(withQuery({ ...this.route, parts: [] }, { tab: "", ...changes })); }
  side() {
    const { query } = this.route, types = (this.types.value || []).map((row) => row.name), families = [...new Set(types.map(familyOf))];
    const common = ["booking", "class", "waitlist", "member", "lead"].filter((name) => families.includes(name));
    return html`<div class="side-head"><h1>Events</h1>
      ${chips("Family", [["", "All"], ...[...new Set([...common, ...(query.family ? [query.family] : [])])].map((name) => [name, name.replaceAll("_", " ")])], query.family || "", (family) => this.pick({ family, type: "" }))}
      <div class="row filters">${choice("Type", [["", "Every type"], ...types.filter((name) => !query.family || familyOf(name) === query.family).map((name) => [name, name])], query.type || "", (type) => this.pick({ type }))}
      ${chips("Outcome", [["", "Any outcome"], ["1", "Any failed"]], query.failed || "", (bad) => this.pick({ failed: bad }))}</div>
      ${query.resource ? html`<p class="row"><span class="pill idle">Events about one ${this.list?.items?.[0]?.resource.object || "thing"}</span><button class="link" @click=${() => this.pick({ resource: "" })}>All events</button></p>` : nothing}</div>
      <st-list label="Events" .load=${(cursor) => this.load(cursor)} .row=${(event) => eventRow(this.app, event)} .group=${(event) => dayWord(event.created_at)} .to=${(event) => href("events", [event.id], query)} .selected=${this.route.parts[0]}
        .none=${empty(Object.keys(query).length ? "No event fits." : "No events yet. What happens in the studio appears here by itself.", Object.keys(query).length ? html`<a class="btn" href=${href("events")}>Show all</a>` : html`<a class="btn" href=${href("webhooks", [], { new: "1" })}>Add an endpoint</a>`)}></st-list>`;
  }
  changes(event) {
    const now = event.data.object || {}, before = event.data.previous;
    const shown = (value) => (typeof value === "string" && UUID.test(value) ? copyChip(value) : typeof value === "string" && /^\d{4}-\d\d-\d\dT/.test(value) ? html`<span title=${iso(value)}>${dayAndTime(value)}</span>` : value === null ? html`<span class="faint">none</span>` : Array.isArray(value) && !value.length ? html`<span class="faint">none</span>` : typeof value === "object" ? html`<code>${JSON.stringify(value)}</code>` : String(value));
    if (before && Object.keys(before).length) return html`<h2 class="over-line">What changed</h2><div class="table-wrap"><table><thead><tr><th scope="col">Field</th><th scope="col">Before</th><th scope="col">After</th></tr></thead><tbody>${Object.keys(before).map((name) => html`<tr><th scope="row">${name.replaceAll("_", " ")}</th><td class="before">${shown(before[name])}</td><td>${shown(now[name])}</td></tr>`)}</tbody></table></div>`;
    return html`<h2 class="over-line">${event.resource.object.replaceAll("_", " ")}</h2>${facts(Object.entries(now).filter(([name, value]) => !["id", "object", "fields", "settings", "prices"].includes(name) && value !== null).slice(0, 12).map(([name, value]) => [name.replaceAll("_", " ").replace(/ id$/, ""), this.named(name, value, shown)]))}`;
  }
  named(name, value, shown) {
    const { names } = this.app;
    if (name === "class_id") { const row = names.get("class", value); return row ? html`<a href=${href("schedule", [], { day: day(row.start_time), class: value })}>${row.title} · ${dayAndTime(row.start_time)}</a> ${copyChip(value)}` : copyChip(value); }
    if (name === "member_id") { const row = names.get("member", value); return html`${row ? html`<a href=${href("events", [], { resource: value })}>${row.name}</a> ` : nothing}${copyChip(value)}`; }
    return shown(value);
  }
  deliveries(event) {
    const endpoints = new Map((this.endpoints.value || []).map((row) => [row.id, row]));
    return panel(this.sent, (rows) => html`<ul class="list card flush" aria-label="Deliveries">${rows.map((row) => { const last = row.attempts.at(-1); return html`<li><a class="item" href=${href("webhooks", [row.endpoint_id, row.id])}>${dot(outcomeOf(row))}<span class="one main-line">${endpointName(endpoints.get(row.endpoint_id))}</span><span class="right">${last ? pill(last.response_status ?? "no answer", last.response_status ? undefined : "bad") : pill("waiting", "warn")}</span>
      <span class="one two soft">${last ? `Attempt ${row.attempt_count}, ${last.duration_ms} ms${last.error ? `: ${last.error}` : ""}` : "Not tried yet"}</span><span class="right two faint">${overdue(row) ? "held back: its endpoint is paused" : row.status === "pending" && row.next_attempt_at ? html`next try <st-time .at=${row.next_attempt_at}></st-time>` : html`<st-time .at=${row.created_at}></st-time>`}</span></a></li>`; })}</ul>`,
      { isEmpty: (rows) => !rows.length, empty: empty("No endpoint takes this event.", html`<button class="btn" @click=${() => this.again(event)}>Send it to…</button>`) });
  }
  again(event) {
    const rows = (this.endpoints.value || []).filter((row) => row.status === "enabled"), known = new Map((this.sent.value || []).map((row) => [row.endpoint_id, row]));
    openDialog("Send again to…", (dialog) => (known.size ? html`<p class="soft">The same event, with the same webhook-id: a receiver that has it ignores it.</p><ul class="list">${rows.filter((row) => known.has(row.id)).map((row) => html`<li><button class="btn wide-btn" @click=${async () => { dialog.close(); try { await this.app.api.post(`/webhook-deliveries/${known.get(row.id).id}/retry`); toast(`Sent again to ${endpointName(row)}`); this.follow(event.id); } catch (error) { failed(error); } }}>${endpointName(row)}</button></li>`)}</ul>`
      : html`<p>No endpoint took this event. <em>Recover</em> on an endpoint's page sends it everything since a moment.</p><p><a class="btn" href=${href("webhooks")} @click=${() => dialog.close()}>Webhooks</a></p>`));
  }
  cause_(event) {
    if (!event.request_id) return html`<p class="note">Nobody asked for it: the studio's staff, an import or the passage of time caused it.</p>`;
    return panel(this.cause, (row) => (row ? html`<a class="card item solo" href=${href("requests", [row.request_id])}>${dot(row.status)}<span class="one">${method(row.method)} <strong>${row.route}</strong></span><span class="right">${pill(row.status)}</span><span class="one two soft">key ${row.key_name || (row.key_id === this.app.key.id ? this.app.key.name : "of this client")}</span><span class="right two faint"><st-time .at=${row.at}></st-time></span></a>`
      : html`<p class="note">A request that is not in your log: staff at the desk, another client, or more than seven days ago. ${copyChip(event.request_id, "request's id")}</p>`), { lines: 2 });
  }
  detail(event) {
    const { query } = this.route, tab = query.tab || "summary", to = (name) => withQuery(this.route, { tab: name === "summary" ? "" : name });
    const cause = this.cause.value, rows = this.sent.value || [], bad = rows.find((row) => outcomeOf(row) !== "succeeded") || rows[0];
    const endpoint = bad && (this.endpoints.value || []).find((row) => row.id === bad.endpoint_id);
    const parts = [["summary", "Summary"], ["payload", "Payload"], ["deliveries", `Deliveries${rows.length ? ` ${rows.length}` : ""}`], ["request", "Request"]];
    const body = { payload: () => html`<st-json .value=${event} label="Payload"></st-json>`, deliveries: () => this.deliveries(event), request: () => this.cause_(event),
      summary: () => html`${this.changes(event)}<h2 class="over-line">Deliveries</h2>${this.deliveries(event)}<h2 class="over-line">Caused by</h2>${this.cause_(event)}` }[tab];
    return html`${crumbs([cause && [`Request ${cause.method} ${cause.route} ${cause.status}`, href("requests", [cause.request_id])], [`Event ${event.type} #${event.sequence}`, null], bad && [`Delivery ${endpointName(endpoint)} ${bad.status}`, href("webhooks", [bad.endpoint_id, bad.id])]])}
      <h1>${sentence(event, this.app.names)}</h1><p class="soft row"><code>${event.type}</code> #${event.sequence} · <st-time .at=${event.created_at}></st-time> ${copyChip(event.id, "event's id")} ${rows.length ? state({ bad: "failing", warn: "pending", good: "delivered" }[worst(rows)]) : nothing}</p>
      <p class="row acts"><button class="btn" @click=${() => this.again(event)}>Send again to…</button>${copyButton(() => JSON.stringify(event, null, 2), "Copy payload")}<a class="btn" href=${href("events", [], { resource: event.resource.id })}>Its whole story</a></p>
      ${tabs("Event", parts.map(([name, text]) => [name, text, to(name)]), tab)}${(body || (() => nothing))()}`;
  }
  render() {
    const [id] = this.route.parts;
    return split({ side: this.side(), label: "Event", close: href("events", [], { ...this.route.query, tab: "" }), pane: id ? panel(this.one, (event) => this.detail(event)) : null, hint: html`<p>Choose an event to see what changed and where it went.<br><span class="faint">New ones appear by themselves.</span></p>` });
  }
}
customElements.define("partner-events", Events);
