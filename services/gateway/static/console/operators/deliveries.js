// Deliveries of the studio: what failed or is late, by endpoint with the reason they share; one of them with its attempts.
import { facts, split } from "../ui/detail-pane.js";
import { copyChip, dot, empty, failed, go, href, html, Load, nothing, panel, Piece, pill, repeat, toast, withQuery } from "../ui/element.js";
import { chips } from "../ui/controls.js";
import { poll } from "../ui/live.js";
import { dayAndTime, relative } from "../ui/time.js";
import { errorText, healthFigures, healthWord, pausedPill, readHealth } from "../partner/endpoints.js";
import { attemptBoxes, timeline, TRIES } from "../partner/attempts.js";
import { outcomeOf } from "../partner/outcomes.js";
import { openRecovery } from "../partner/recovery.js";
import { personName } from "../partner/names.js";
import { sentence, whereOf } from "../partner/sentences.js";
import { showEvent } from "./lookup.js";

const MOST = 200, LATE = 30000;
const nameOf = (endpoint) => (endpoint ? endpoint.description || whereOf(endpoint.url) : "An endpoint that is gone");
const answerOf = (row) => errorText(row.attempts.at(-1)) || "not tried yet";
const stuck = (row) => row.status === "dead" || (row.status === "pending" && (row.attempt_count > 0 || Date.now() - new Date(row.created_at) > LATE));
// The reason that most of them share.
function shared(rows) {
  const times = new Map();
  for (const row of rows) { const text = answerOf(row); times.set(text, (times.get(text) || 0) + 1); }
  return [...times].sort((a, b) => b[1] - a[1])[0]?.[0] || "";
}

class Deliveries extends Piece {
  static properties = { app: {}, route: {} };
  connectedCallback() {
    super.connectedCallback();
    this.busy = new Set();
    this.open = new Set();
    this.rows = new Load(this, () => this.read());
    // With the headers of its attempts, and with its event: what the partner sees of it, too.
    this.one = new Load(this, (id) => this.app.api.get(`/webhook-deliveries/${encodeURIComponent(id)}`, {}, { signal: this.signal }));
    this.event = new Load(this, (id) => this.app.api.get(`/events/${id}`, {}, { signal: this.signal }));
    // Whose endpoint it is.
    this.client = new Load(this, async (id) => {
      const [{ rows }, { data }] = await Promise.all([this.app.api.all("/webhook-endpoints"), this.app.root.get("/keys", { studio: this.app.studio.id })]);
      const endpoint = rows.find((one) => one.id === id);
      return data.find((key) => key.id === endpoint?.key_id) || null;
    });
    this.rows.run();
    const mark = () => JSON.stringify(this.rows.value?.rows.map((row) => [row.id, row.status, row.attempt_count]));
    this.nudge = poll(async () => {
      const before = mark();
      await this.rows.run();
      const row = this.rows.value?.rows.find((one) => one.id === this.shownId), shown = this.one.value;
      if (row && shown && (row.attempt_count !== shown.attempt_count || row.status !== shown.status)) this.one.run(row.id);
      return before !== mark();
    }, this.signal, { fast: 4, slow: 60 });
  }
  get all() { return this.route.query.show === "all"; }
  async read() {
    const { api } = this.app, options = { signal: this.signal }, { endpoint } = this.route.query;
    const ask = (status) => api.get("/webhook-deliveries", { status, order: "desc", endpoint_id: endpoint, limit: MOST }, options);
    const pages = await Promise.all(this.all ? [ask(undefined)] : [ask("pending"), ask("dead")]);
    const rows = pages.flatMap((page) => page.data).sort((a, b) => (a.created_at < b.created_at ? 1 : -1));
    // Only the endpoints of these rows: a studio may have thousands.
    const ids = [...new Set([...(endpoint ? [endpoint] : []), ...rows.map((row) => row.endpoint_id)])].slice(0, 20);
    const found = await Promise.all(ids.map((id) => readHealth(this.app, this.signal, id)));
    return { endpoints: new Map(found.flatMap((one) => [...one])), rows, capped: pages.some((page) => page.next_cursor) };
  }
  willUpdate(changed) {
    if (!changed.has("route")) return;
    const wanted = JSON.stringify([this.route.query.show, this.route.query.endpoint]);
    if (this.wanted !== undefined && wanted !== this.wanted) { this.rows.clear(); this.rows.run(); }
    this.wanted = wanted;
    const [id] = this.route.parts;
    if (id === this.shownId) return;
    this.shownId = id;
    for (const load of [this.one, this.event, this.client]) load.clear();
    if (id) this.one.run(id).then((row) => { if (row?.id === this.shownId) { this.event.run(row.event_id); this.client.run(row.endpoint_id); } });
  }
  get groups() { return [...Map.groupBy(this.rows.value.rows.filter((row) => this.all || stuck(row)), (row) => row.endpoint_id)].map(([id, rows]) => ({ id, rows, endpoint: this.rows.value.endpoints.get(id) })); }
  async retry(rows) {
    let sent = 0;
    for (const row of rows) {
      this.busy.add(row.id);
      this.requestUpdate();
      try { const now = await this.app.api.post(`/webhook-deliveries/${row.id}/retry`); sent += 1; this.rows.value.rows = this.rows.value.rows.map((one) => (one.id === now.id ? now : one)); } catch (error) { failed(error); break; } finally { this.busy.delete(row.id); }
    }
    toast(`${sent === 1 ? "It is" : `${sent} are`} sent again, as soon as the endpoint takes deliveries.`);
    setTimeout(() => this.nudge(true), 800);
  }
  item(row) {
    const last = row.attempts.at(-1), answer = last ? pill(last.response_status ?? "no answer", last.response_status ? undefined : "bad") : pill("—", "warn");
    const ahead = row.status === "pending" && row.next_attempt_at && new Date(row.next_attempt_at) > Date.now();
    const mark = this.busy.has(row.id) ? html`<span class="spin" role="img" aria-label="sending"></span>` : dot(outcomeOf(row));
    const opened = () => setTimeout(() => document.querySelector(".pane")?.focus({ preventScroll: true }), 60);
    return html`<li><a class="item" href=${href("deliveries", [row.id], { ...this.route.query, attempt: "" })}
      aria-current=${row.id === this.route.parts[0] ? "true" : nothing} @click=${opened}>
      ${mark}<span class="one"><code>${row.event_type}</code></span><span class="right">${answer}</span>
      <span class="one two faint">${ahead ? html`next <st-time .at=${row.next_attempt_at}></st-time>` : outcomeOf(row)}</span>
      <span class="right two faint">${row.attempt_count}/${TRIES} · <st-time .at=${row.created_at}></st-time></span></a></li>`;
  }
  group(one) {
    const { id, rows, endpoint } = one, waits = rows.filter(stuck), open = this.open.has(id) || rows.some((row) => row.id === this.route.parts[0]) || Boolean(this.route.query.endpoint) || this.groups.length === 1;
    const first = waits.at(-1), health = endpoint;
    const recover = () => openRecovery(this.app, { ...endpoint, id }, rows.at(-1)?.created_at, () => this.nudge(true));
    return html`<section class="group-card"><h2 class="row"><button class="fold grow" aria-expanded=${String(open)} @click=${() => { if (this.open.has(id)) this.open.delete(id); else this.open.add(id); this.requestUpdate(); }}>${nameOf(endpoint)}</button></h2>
      <p class="row">${endpoint ? healthWord(endpoint, health) : nothing}${pausedPill(health)}<span class="faint">${healthFigures(health)}</span></p>
      <p class="soft">${waits.length ? `${shared(waits)} · first ${relative(first.created_at)}` : `${rows.length} delivered`}</p>
      <p class="row">${waits.length ? html`<button class="btn small" @click=${() => this.retry(waits)}>Retry ${waits.length === 1 ? "it" : `all ${waits.length}${this.rows.value.capped && waits.length >= MOST ? " shown" : ""}`}</button>` : nothing}${endpoint ? html`<button class="btn small" @click=${recover}>Recover since…</button>` : nothing}</p>
      ${open ? html`<ul class="list">${repeat(rows.slice(0, 100), (row) => row.id, (row) => this.item(row))}</ul>` : nothing}</section>`;
  }
  side() {
    const pick = (show) => go(href("deliveries", [], { ...this.route.query, show }));
    return html`<div class="side-head"><h1>Deliveries</h1>${chips("Show", [["", "Failed or late"], ["all", "All"]], this.route.query.show || "", pick)}${this.route.query.endpoint ? html`<p class="row"><span class="pill idle">one endpoint</span><a href=${withQuery({ ...this.route, parts: [] }, { endpoint: "" })}>Show every endpoint</a></p>` : nothing}</div>
      <div class="scroll">${panel(this.rows, () => repeat(this.groups, (one) => one.id, (one) => this.group(one)), { isEmpty: () => !this.groups.length, empty: this.all ? empty("Nothing was sent yet.") : empty(html`<strong class="good">●</strong> Every delivery has arrived.`, html`<button class="btn" @click=${() => pick("all")}>Show all deliveries</button>`), lines: 8 })}</div>`;
  }
  detail(row) {
    const endpoint = this.rows.value?.endpoints.get(row.endpoint_id), event = this.event.value, outcome = outcomeOf(row);
    const object = event?.data?.object || {}, { names } = this.app, key = this.client.value;
    const idOf = (kind) => object[`${kind}_id`] || (object.object === kind ? object.id : null), member = names.get("member", idOf("member")), lesson = names.get("class", idOf("class"));
    const retry = async () => { await this.retry([row]); this.one.run(row.id); };
    return html`<h1>${event ? sentence(event, this.app.names) : row.event_type}</h1>
      <p class="soft row">${dot(outcome)} ${outcome} · <st-time .at=${row.created_at}></st-time> ${copyChip(row.id, "delivery's id")}</p>
      <p class="row acts"><button class="btn ${row.status === "succeeded" ? "" : "main"}" ?disabled=${this.busy.has(row.id)}
        @click=${retry}>${row.status === "succeeded" ? "Send again" : "Retry now"}</button></p>
      ${facts([
        ["Endpoint", html`<a href=${href("deliveries", [], { endpoint: row.endpoint_id, show: "all" })}>${nameOf(endpoint)}</a> <span class="soft mono">${endpoint ? whereOf(endpoint.url) : ""}</span>`],
        ["Partner", key && html`<a href=${href("partners", [key.client_id])}>${key.client_name || key.name}</a>`],
        ["Member", member && html`<a href=${href("members", [member.id])}>${personName(member)}</a>`],
        ["Class", lesson && html`<a href=${href("today", [lesson.id])}>${lesson.title} · ${dayAndTime(lesson.start_time)}</a>`],
        ["Event", html`${event ? html`<button class="link" @click=${() => showEvent(this.app, event)}>${row.event_type} #${event.sequence}</button>` : html`<code>${row.event_type}</code>`} ${copyChip(row.event_id, "event's id")}`],
        ["Number", row.sequence]])}
      <h2 class="over-line">Attempts</h2>${timeline(row, this.route)}
      ${attemptBoxes(row, this.route, endpoint?.url, event)}`;
  }
  render() {
    const [id] = this.route.parts, hint = html`<p>Choose a delivery to see what the partner's server answered.</p>`;
    return split({ side: this.side(), label: "Delivery", close: href("deliveries", [], { ...this.route.query, attempt: "" }),
      pane: id ? panel(this.one, (row) => this.detail(row)) : null, hint });
  }
}
customElements.define("ops-deliveries", Deliveries);
