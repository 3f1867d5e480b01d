// Deliveries of the studio: what failed or is late, by endpoint with the reason they share; one of them with its attempts.
import { html, nothing, repeat } from "../vendor/lit.js";
import { copyChip } from "../ui/copy-chip.js";
import { facts, split } from "../ui/detail-pane.js";
import { openDialog } from "../ui/dialog.js";
import { empty, Load, panel, Piece, problem } from "../ui/element.js";
import { chips, choice, field } from "../ui/filter-bar.js";
import { poll } from "../ui/live.js";
import { dot, meter, pill } from "../ui/marks.js";
import { go, href, withQuery } from "../ui/route.js";
import { clock, dayAndTime, lasting, relative } from "../ui/time.js";
import { timeline } from "../ui/timeline.js";
import { failed, toast } from "../ui/toast.js";
import { errorText, healthFigures, healthWord, pausedPill, readHealth } from "../partner/endpoints.js";
import { whereOf } from "../partner/sentences.js";
import "../ui/json-tree.js";
import "../ui/rel-time.js";

const MOST = 200, LATE = 30000;
const nameOf = (endpoint) => (endpoint ? endpoint.description || whereOf(endpoint.url) : "An endpoint that is gone");
const answerOf = (row) => errorText(row.attempts.at(-1)) || "not tried yet";
const stuck = (row) => row.status === "dead" || (row.status === "pending" && (row.attempt_count > 0 || Date.now() - new Date(row.created_at) > LATE));
const parsed = (text) => { try { const value = JSON.parse(text); return typeof value === "object" ? value : null; } catch { return null; } };
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
    this.rows.run();
    this.nudge = poll(async () => { const before = JSON.stringify(this.rows.value?.rows.map((row) => [row.id, row.status, row.attempt_count])); await this.rows.run(); return before !== JSON.stringify(this.rows.value?.rows.map((row) => [row.id, row.status, row.attempt_count])); }, this.signal, { fast: 4, slow: 60 });
  }
  get all() { return this.route.query.show === "all"; }
  async read() {
    const { api } = this.app, options = { signal: this.signal, quiet: true }, { endpoint } = this.route.query;
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
  }
  get groups() { return [...Map.groupBy(this.rows.value.rows.filter((row) => this.all || stuck(row)), (row) => row.endpoint_id)].map(([id, rows]) => ({ id, rows, endpoint: this.rows.value.endpoints.get(id) })); }
  async retry(rows) {
    let sent = 0;
    for (const row of rows) {
      this.busy.add(row.id);
      this.requestUpdate();
      try { const now = await this.app.api.post(`/webhook-deliveries/${row.id}/retry`); sent += 1; this.rows.value.rows = this.rows.value.rows.map((one) => (one.id === now.id ? now : one)); } catch (error) { failed(error); break; } finally { this.busy.delete(row.id); }
    }
    toast(sent === 1 ? "It is sent again." : `${sent} are sent again.`);
    setTimeout(() => this.nudge(true), 800);
  }
  recover({ id, endpoint, rows }) {
    const first = rows.at(-1)?.created_at, options = [["1", "The last hour"], ...(first ? [["first", `Since it failed (${dayAndTime(first)})`]] : []), ["24", "The last 24 hours"], ["168", "The last 7 days"]];
    let since = first ? "first" : "1", running = null, error = null, over = false, missed = null;
    const from = () => (since === "first" ? first : new Date(Date.now() - Number(since) * 3600000).toISOString());
    const count = async () => { missed = null; dialog.redraw(); try { missed = await this.app.api.get(`/webhook-endpoints/${id}/missed-events`, { since: from() }, { quiet: true }); } catch (refused) { error = refused; } dialog.redraw(); };
    const begin = async () => {
      error = null;
      try {
        running = await this.app.api.post(`/webhook-endpoints/${id}/recover`, { since: from() });
        dialog.redraw();
        while (running.status === "running" && !over) { await new Promise((done) => setTimeout(done, 800)); running = await this.app.api.get(`/webhook-endpoints/${id}/recoveries/${running.id}`, {}, { quiet: true }); dialog.redraw(); }
        this.nudge(true);
      } catch (refused) { error = refused; dialog.redraw(); }
    };
    const dialog = openDialog(`Recover ${nameOf(endpoint)}`, () => html`<p class="soft">Sends what the endpoint should have received since then and has not.</p>${running ? html`<p role="status">${running.status === "done" ? "Done" : "Running"}: ${running.offered} ${running.offered === 1 ? "event" : "events"} offered.</p>${meter(running.status === "done" ? 1 : running.offered, running.status === "done" ? 1 : Math.max(running.offered, missed?.count || 1), "Progress")}<p class="row end"><button class="btn" @click=${() => dialog.close()}>${running.status === "done" ? "Close" : "Stop watching"}</button></p>` : html`${field("From", choice("From", options, since, (value) => { since = value; count(); }))}<p class="note" role="status">${missed ? `${missed.complete ? "" : "At least "}${missed.count.toLocaleString("en")} ${missed.count === 1 ? "event" : "events"} would be sent.` : "Counting…"}</p>${error ? problem(error) : nothing}<p class="row end"><button class="btn main" ?disabled=${missed?.count === 0} @click=${begin}>Recover</button></p>`}`, { onclose: () => { over = true; } });
    count();
  }
  item(row) {
    const kind = row.status === "pending" && row.attempt_count ? "bad" : row.status;
    return html`<li><a class="item" href=${href("deliveries", [row.id], this.route.query)} aria-current=${row.id === this.route.parts[0] ? "true" : nothing} @click=${() => setTimeout(() => document.querySelector(".pane")?.focus({ preventScroll: true }), 60)}>${this.busy.has(row.id) ? html`<span class="spin" role="img" aria-label="sending"></span>` : dot(kind, row.status === "pending" && row.attempt_count ? "failing" : row.status)}<span class="one"><code>${row.event_type}</code></span><span class="right">${row.attempts.length ? pill(row.attempts.at(-1).response_status ?? "no answer", row.attempts.at(-1).response_status ? undefined : "bad") : pill("—", "warn")}</span>
      <span class="one two faint">${row.status === "pending" && row.next_attempt_at && new Date(row.next_attempt_at) > Date.now() ? html`next <st-time .at=${row.next_attempt_at}></st-time>` : row.status}</span><span class="right two faint">${row.attempt_count}/10 · <st-time .at=${row.created_at}></st-time></span></a></li>`;
  }
  group(one) {
    const { id, rows, endpoint } = one, waits = rows.filter(stuck), open = this.open.has(id) || rows.some((row) => row.id === this.route.parts[0]) || Boolean(this.route.query.endpoint) || this.groups.length === 1;
    const first = waits.at(-1), health = endpoint;
    return html`<section class="group-card"><h2 class="row"><button class="fold grow" aria-expanded=${String(open)} @click=${() => { if (this.open.has(id)) this.open.delete(id); else this.open.add(id); this.requestUpdate(); }}>${nameOf(endpoint)}</button></h2>
      <p class="row">${endpoint ? healthWord(endpoint, health) : nothing}${pausedPill(health)}<span class="faint">${healthFigures(health)}</span></p>
      <p class="soft">${waits.length ? `${shared(waits)} · first ${relative(first.created_at)}` : `${rows.length} delivered`}</p>
      <p class="row">${waits.length ? html`<button class="btn small" @click=${() => this.retry(waits)}>Retry ${waits.length === 1 ? "it" : `all ${waits.length}${this.rows.value.capped && waits.length >= MOST ? " shown" : ""}`}</button>` : nothing}<button class="btn small" @click=${() => this.recover(one)}>Recover since…</button></p>
      ${open ? html`<ul class="list">${repeat(rows.slice(0, 100), (row) => row.id, (row) => this.item(row))}</ul>` : nothing}</section>`;
  }
  side() {
    const pick = (show) => go(href("deliveries", [], { ...this.route.query, show }));
    return html`<div class="side-head"><h1>Deliveries</h1>${chips("Show", [["", "Failed or late"], ["all", "All"]], this.route.query.show || "", pick)}${this.route.query.endpoint ? html`<p class="row"><span class="pill idle">one endpoint</span><a href=${withQuery({ ...this.route, parts: [] }, { endpoint: "" })}>Show every endpoint</a></p>` : nothing}</div>
      <div class="scroll">${panel(this.rows, () => repeat(this.groups, (one) => one.id, (one) => this.group(one)), { isEmpty: () => !this.groups.length, empty: this.all ? empty("Nothing was sent yet.") : empty(html`<strong class="good">●</strong> Every delivery has arrived.`, html`<button class="btn" @click=${() => pick("all")}>Show all deliveries</button>`), lines: 8 })}</div>`;
  }
  detail(row) {
    const endpoint = this.rows.value.endpoints.get(row.endpoint_id), n = Number(this.route.query.attempt) || row.attempts.length, attempt = row.attempts[n - 1], body = attempt && parsed(attempt.response_body);
    const steps = row.attempts.map((one, at) => ({ kind: one.response_status >= 200 && one.response_status < 300 ? "good" : "bad", text: at ? `+${lasting(new Date(one.at) - new Date(row.attempts[at - 1].at))}` : clock(one.at), title: `Attempt ${at + 1}: ${one.response_status ?? one.error}`, to: withQuery(this.route, { attempt: at + 1 }), current: at + 1 === n }));
    if (row.status === "pending") steps.push({ kind: "next", text: row.next_attempt_at ? relative(row.next_attempt_at) : "soon", title: "The next attempt" });
    return html`<h1>${row.event_type}</h1><p class="soft row">${dot(row.status)} ${row.status} · <st-time .at=${row.created_at}></st-time> ${copyChip(row.id, "delivery's id")}</p><p class="row acts"><button class="btn main" ?disabled=${this.busy.has(row.id)} @click=${() => this.retry([row])}>Retry now</button></p>
      ${facts([["Endpoint", html`${nameOf(endpoint)} <span class="soft mono">${endpoint ? whereOf(endpoint.url) : ""}</span>`], ["Event", copyChip(row.event_id, "event's id")], ["Number", row.sequence]])}
      <h2 class="over-line">Attempts</h2>${timeline("Attempts", steps)}
      ${attempt ? html`<h2 class="over-line">Attempt ${n} · ${attempt.response_status ?? "no answer"} · ${attempt.duration_ms} ms</h2>${attempt.response_status === null ? html`<p class="problem flat">${attempt.error || "There was no answer."}</p>` : body ? html`<st-json .value=${body} label="Response body"></st-json>` : html`<pre class="code" tabindex="0">${attempt.response_body || "(empty)"}</pre>`}` : html`<p class="note">Not tried yet.</p>`}`;
  }
  render() {
    const [id] = this.route.parts, row = this.rows.value?.rows.find((one) => one.id === id);
    return split({ side: this.side(), label: "Delivery", close: href("deliveries", [], this.route.query), pane: id ? (row ? this.detail(row) : this.rows.value ? empty("This delivery is no longer among those shown.") : panel(this.rows, () => nothing)) : null, hint: html`<p>Choose a delivery to see what the partner's server answered.</p>` });
  }
}
customElements.define("ops-deliveries", Deliveries);
