// An endpoint's page: its health and deliveries at the left, newest first; one delivery with all attempts at the right.
import { crumbs, facts, split } from "../ui/detail-pane.js";
import { chips, confirm, toggle } from "../ui/controls.js";
import { copy, copyChip, dot, empty, failed, go, href, html, Load, nothing, panel, Piece, pill, toast, withQuery } from "../ui/element.js";
import { poll } from "../ui/live.js";
import { relative } from "../ui/time.js";
import { attemptBoxes, chosenAttempt, curlOf, timeline, TRIES } from "./attempts.js";
import { endpointActs, endpointMenu, errorText, healthFigures, healthWord, pausedPill, readHealth } from "./endpoints.js";
import { outcomeOf } from "./outcomes.js";
import { openRecovery } from "./recovery.js";
import { endpointName, sentence, whereOf } from "./sentences.js";

class Deliveries extends Piece {
  static properties = { app: {}, route: {} };
  connectedCallback() {
    super.connectedCallback();
    const { app } = this;
    this.busy = new Set();
    this.endpoint = new Load(this, (id) => app.api.get(`/webhook-endpoints/${encodeURIComponent(id)}`, {}, { signal: this.signal }));
    this.health = new Load(this, async () => (await readHealth(app, this.signal, this.id)).get(this.id) || null);
    this.one = new Load(this, (id) => app.api.get(`/webhook-deliveries/${encodeURIComponent(id)}`, {}, { signal: this.signal }));
    this.cause = new Load(this, (id) => app.api.get("/requests", { request_id: id }, { signal: this.signal }).then(({ data: [row] }) => row || null));
    this.nudge = poll(() => this.refresh(), this.signal, { fast: 3, slow: 0 });
    app.follower?.subscribe(() => setTimeout(() => this.nudge(), 1000), this.signal);
  }
  get list() { return this.querySelector("st-list"); }
  get id() { return this.route.parts[0]; }
  get status() { return this.route.query.status || ""; }
  async load(cursor) {
    const page = await this.app.api.get(`/webhook-endpoints/${this.id}/deliveries`, { order: "desc", status: this.status, limit: 50, cursor }, { signal: this.signal });
    this.app.outcomes.learn(page.data);
    return page;
  }
  async refresh() {
    if (!this.list?.items) return false;
    const page = await this.load(undefined);
    const mark = (rows) => JSON.stringify(rows.slice(0, 50).map((row) => [row.id, row.status, row.attempt_count]));
    const before = mark(this.list.items);
    this.list.prepend(page.data);
    const shown = page.data.find((row) => row.id === this.shownId);
    if (shown && this.one.value && (shown.attempt_count !== this.one.value.attempt_count || shown.status !== this.one.value.status)) this.one.run(this.shownId);
    const changed = before !== mark(this.list.items);
    if (changed) this.health.run();
    return changed || page.data.some((row) => row.status === "pending" && new Date(row.next_attempt_at) < Date.now() + 60000);
  }
  willUpdate(changed) {
    if (!changed.has("route")) return;
    const [id, delivery] = this.route.parts;
    if (id !== this.shownEndpoint) {
      const reload = this.shownEndpoint !== undefined;
      this.shownEndpoint = id;
      for (const load of [this.endpoint, this.health]) load.clear();
      this.endpoint.run(id).then((row) => row && this.health.run());
      if (reload) this.updateComplete.then(() => this.list?.reload());
    } else if (this.shownStatus !== undefined && this.shownStatus !== this.status) this.updateComplete.then(() => this.list?.reload());
    this.shownStatus = this.status;
    if (delivery !== this.shownId) {
      this.shownId = delivery;
      this.one.clear();
      this.cause.clear();
      this.causeOf = null;
      if (delivery) this.watch(delivery);
    }
  }
  // Until its first attempt is over, a delivery is looked at every moment.
  async watch(id) {
    const row = await this.one.run(id);
    if (!row || id !== this.shownId) return;
    this.list?.change(row);
    this.app.outcomes.learn([row]);
    const wait = row.status === "pending" ? new Date(row.next_attempt_at) - Date.now() : Infinity;
    if (wait < 60000 && wait > -5000 && !this.signal.aborted) setTimeout(() => { if (id === this.shownId && !document.hidden && !this.signal.aborted) this.watch(id); }, Math.max(700, wait + 700));
  }
  event(row) {
    const event = this.app.outcomes.event(row.event_id);
    if (event && row.id === this.shownId && this.causeOf !== event.id) { this.causeOf = event.id; if (event.request_id) this.cause.run(event.request_id); else this.cause.set(null); }
    return event;
  }
  // Sends one again and shows what came of it in its row.
  async retry(row) {
    this.busy.add(row.id);
    this.requestUpdate();
    try {
      let now = await this.app.api.post(`/webhook-deliveries/${row.id}/retry`);
      for (let round = 0; round < 20 && now.attempt_count === row.attempt_count; round += 1) {
        await new Promise((done) => setTimeout(done, 300));
        now = await this.app.api.get(`/webhook-deliveries/${row.id}`, {}, { signal: this.signal });
        this.list?.change(now);
      }
      if (row.id === this.shownId) { this.one.set(now); go(withQuery(this.route, { attempt: "" }), { replace: true }); }
      const last = now.attempts.at(-1);
      if (now.attempt_count === row.attempt_count) return "No attempt has ended yet. It shows here when one has.";
      return now.status === "succeeded" ? `Delivered: ${last.response_status} in ${last.duration_ms} ms` : `Tried again: ${errorText(last) || "no answer yet"}`;
    } finally { this.busy.delete(row.id); this.list?.requestUpdate(); this.requestUpdate(); }
  }
  async retryOne(row) { try { toast(await this.retry(row)); this.health.run(); } catch (error) { failed(error); } }
  async retryAll() {
    const rows = this.list.items.filter((row) => row.status !== "succeeded");
    if (!await confirm(`Retry ${rows.length}?`, rows.length === 1 ? "The delivery that is shown is sent again now." : `The ${rows.length} deliveries that are shown are sent again now.`, `Retry ${rows.length}`, { danger: false })) return;
    let good = 0;
    for (const row of rows) { try { if ((await this.retry(row)).startsWith("Delivered")) good += 1; } catch (error) { failed(error); break; } }
    toast(`${good} of ${rows.length} delivered.`);
    this.health.run();
  }
  row(row) {
    const event = this.app.outcomes.event(row.event_id), last = row.attempts?.at(-1);
    const answer = !last ? pill("—", "warn") : pill(last.response_status ?? "no answer", last.response_status ? undefined : "bad");
    return html`${this.busy.has(row.id) ? html`<span class="spin" role="img" aria-label="sending"></span>` : dot(outcomeOf(row))}
      <span class="one main-line sentence">${event ? sentence(event, this.app.names) : event === null ? "An event that is no longer kept" : " "}</span>
      <span class="right">${answer}</span><span class="one two"><code class="soft">${row.event_type}</code></span>
      <span class="right two faint">${row.attempt_count}/${TRIES} · ${row.status === "pending" && row.attempt_count && new Date(row.next_attempt_at) > Date.now() ? html`next <st-time .at=${row.next_attempt_at}></st-time>` : html`<st-time .at=${row.created_at}></st-time>`}</span>`;
  }
  side() {
    const endpoint = this.endpoint.value, write = this.app.may("webhooks:write");
    if (!endpoint) return html`<div class="side-head">${panel(this.endpoint, () => nothing)}</div>`;
    const acts = endpointActs(this.app, endpoint, (row) => (row ? this.endpoint.set(row) : go(href("webhooks"))));
    const health = this.health.value;
    return html`<div class="side-head"><p class="crumbs flat"><a href=${href("webhooks")}>Webhooks</a></p><div class="row"><h1 class="grow"><a class="plain" href=${href("webhooks", [endpoint.id])}>${endpointName(endpoint)}</a></h1>${write ? html`${toggle("Enabled", endpoint.status === "enabled", acts.enable)}${endpointMenu(acts)}` : nothing}</div>
      <p class="soft mono where">${whereOf(endpoint.url)}</p>
      ${panel(this.health, (value) => !value ? nothing : html`<p class="row">${healthWord(endpoint, value)}${pausedPill(value)}</p><st-bars .points=${value.points} .kinds=${["good", "bad"]} .names=${["delivered", "failed"]} label="Deliveries an hour" height="48"></st-bars><p class="faint">Attempts an hour, last 24 h · ${healthFigures(value) || "none yet"}</p>`, { lines: 3 })}
      <div class="row">${chips("Status", [["", "All"], ["pending", "Waiting", health?.waiting || undefined], ["dead", "Dead", health?.dead || undefined], ["succeeded", "Succeeded"]], this.status, (status) => go(href("webhooks", [this.id], { status })))}${write && ["pending", "dead"].includes(this.status) && this.list?.items?.length ? html`<button class="btn small" @click=${() => this.retryAll()}>Retry ${this.list.items.length}</button>` : nothing}</div></div>
      <st-list label="Deliveries" .load=${(cursor) => this.load(cursor)} .row=${(row) => this.row(row)} .to=${(row) => href("webhooks", [this.id, row.id], { status: this.status })} .selected=${this.route.parts[1]} @loaded=${() => this.requestUpdate()}
        .none=${empty(this.status ? `Nothing is ${this.status}.` : "Nothing was sent to it yet.", write && !this.status ? html`<button class="btn" @click=${acts.test}>Send test event</button>` : html`<a class="btn" href=${href("webhooks", [this.id])}>Show all</a>`)}></st-list>`;
  }
  overview(endpoint) {
    const health = this.health.value, acts = endpointActs(this.app, endpoint, (row) => (row ? this.endpoint.set(row) : go(href("webhooks"))));
    return html`<h1>Overview</h1><p class="row acts"><button class="btn main" @click=${acts.test}>Send test event</button><button class="btn" @click=${() => openRecovery(this.app, endpoint, health?.since)}>Recover…</button><button class="btn" @click=${acts.edit}>Edit</button></p>
      ${health?.error ? html`<h2 class="over-line">Last error</h2><p class="notice">${errorText(health.error)} · <st-time .at=${health.error.at}></st-time></p>` : nothing}
      <h2 class="over-line">Settings</h2>${facts([["Address", html`<span class="mono">${endpoint.url}</span>`], ["Endpoint", copyChip(endpoint.id, "endpoint's id")], ["Event types", endpoint.event_types.length ? html`<span class="row">${endpoint.event_types.map((name) => html`<code>${name}</code>`)}</span>` : "All that its key may see"], ["In order", endpoint.fifo ? "Yes, one at a time" : "No, many at once"], ["Rate", endpoint.rate_limit === null ? "No limit" : `${endpoint.rate_limit} a second`], ["Waiting", health && `${health.waiting}${health.capped ? "+" : ""}${health.oldest ? `, the oldest since ${relative(health.oldest)}` : ""}`], ["Created", html`<st-time day .at=${endpoint.created_at}></st-time>`]])}`;
  }
  recoverHint() {
    const health = this.health.value;
    if (!health?.failing) return nothing;
    const waits = `${health.waiting}${health.capped ? "+" : ""} ${health.waiting === 1 ? "delivery waits" : "deliveries wait"}.`;
    const open = () => openRecovery(this.app, this.endpoint.value, health.since);
    return html`<p class="faint">${waits} <button class="link" @click=${open}>Recover all when it is back</button></p>`;
  }
  detail(row) {
    const event = this.event(row), cause = this.cause.value, endpoint = this.endpoint.value, busy = this.busy.has(row.id);
    const request = cause && href("requests", [cause.request_id]), eventPage = event && href("events", [event.id]);
    const curl = () => copy(curlOf(endpoint.url, event, row.attempts[chosenAttempt(row, this.route) - 1]), "Copied, with its signature");
    return html`${crumbs([
        cause && [`Request ${cause.method} ${cause.route} ${cause.status}`, request],
        event && [`Event ${event.type} #${event.sequence}`, eventPage],
        [`Delivery ${row.sequence}`, null], [endpointName(endpoint), href("webhooks", [this.id])]])}
      <h1>${event ? sentence(event, this.app.names) : row.event_type}</h1>
      <p class="soft row">${dot(outcomeOf(row))} ${outcomeOf(row)} · <st-time .at=${row.created_at}></st-time> ${copyChip(row.id, "delivery's id")}</p>
      <p class="row acts">
        ${this.app.may("webhooks:write") ? html`<button class="btn ${row.status === "succeeded" ? "" : "main"}" ?disabled=${busy}
          @click=${() => this.retryOne(row)}>${busy ? "Sending…" : row.status === "succeeded" ? "Send again" : "Retry now"}</button>` : nothing}
        ${event ? html`<button class="btn" @click=${curl}>Copy as curl</button><a class="btn" href=${eventPage}>Event</a>` : nothing}
        ${cause ? html`<a class="btn" href=${request}>Request</a>` : nothing}</p>
      <h2 class="over-line">Attempts</h2>${timeline(row, this.route)}
      ${attemptBoxes(row, this.route, endpoint.url, event, this.recoverHint())}`;
  }
  render() {
    const [, delivery] = this.route.parts, endpoint = this.endpoint.value;
    return split({ side: this.side(), label: delivery ? "Delivery" : "Endpoint", close: href("webhooks", [this.id], { status: this.status }), pane: delivery && endpoint ? panel(this.one, (row) => this.detail(row)) : null, hint: endpoint ? html`<div class="overview">${this.overview(endpoint)}</div>` : nothing });
  }
}
customElements.define("partner-deliveries", Deliveries);
