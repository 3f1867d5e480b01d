// System: the services, the way of an event as a picture, an hour of figures, and what is parked.
import { confirm, openDialog } from "../ui/controls.js";
import { counted, dot, failed, href, html, kindOf, Load, nothing, panel, Piece, state, toast, words } from "../ui/element.js";
import { poll } from "../ui/live.js";
import { inText, lasting } from "../ui/time.js";
import { errorText } from "../partner/endpoints.js";
import { whereOf } from "../partner/sentences.js";

const LATE = 60; // seconds after which something waits too long
const TOLD = 20; // the status names no more failing endpoints
const age = (seconds) => (seconds > 1 ? `oldest ${lasting(seconds * 1000)}` : "nothing is late");
class System extends Piece {
  static properties = { app: {}, route: {} };
  connectedCallback() {
    super.connectedCallback();
    const { root } = this.app, options = { signal: this.signal };
    // Answered as soon as something has changed, so that what fails is red within ten seconds, and else after most of a minute.
    this.status = new Load(this, (wait) => root.get("/status", wait && { wait, version: this.status.value?.version }, options));
    this.history = new Load(this, () => root.get("/status/history", {}, options).then((page) => page.data));
    this.queues = new Load(this, () => root.get("/queues", {}, options).then((answer) => answer.data));
    this.position = new Load(this, () => (this.app.studio ? this.app.api.get("/events/position", {}, options).then((answer) => answer.last_sequence) : 0));
    for (const load of [this.status, this.history, this.queues, this.position]) load.run();
    poll(async () => {
      const before = this.status.value?.version;
      if (Date.now() - this.history.since > 90000) await Promise.all([this.history.run(), this.position.run()]);
      await this.status.run(this.status.error ? 0 : 50);
      if (this.parked) await this.queues.run();
      return before !== this.status.value?.version;
    }, this.signal, { fast: 4, slow: 5 });
  }
  get figures() { return Object.values(this.status.value?.services || {}).map((one) => one.figures || {}); }
  get parked() { return this.figures.flatMap((one) => one.queues || []).reduce((sum, one) => sum + one.parked, 0); }
  get failing() { return this.figures.flatMap((one) => one.failing_endpoints || []); }
  sum(name) { return this.figures.reduce((sum, one) => sum + (one[name] || 0), 0); }
  most(name) { return Math.max(0, ...this.figures.map((one) => one[name] || 0)); }
  tile([name, service]) {
    const last = this.history.value?.at(-1), figures = service.figures || {};
    const line = name === "gateway" && last ? `${(last.requests / 60).toFixed(1)} requests/s${last.p95_ms === null ? "" : ` · p95 ${lasting(last.p95_ms)}`}` : figures.pending_deliveries !== undefined ? `${counted(figures.pending_deliveries, "delivery waits", "deliveries wait")}` : figures.outbox_waiting !== undefined ? `${figures.outbox_waiting} in its outbox` : "";
    const broken = Object.entries(service.parts || {}).filter(([, part]) => part !== "ok");
    return html`<li class="card service ${kindOf(service.status)}"><h2>${state(service.status, name)}</h2><p class="soft">${service.status === "ready" ? line : service.problem || broken.map(([part, text]) => `${words(part.split(".").at(-1))}: ${text}`).join(", ") || words(service.status)}</p></li>`;
  }
  // Red where it stops: the first box whose oldest waits too long.
  pipeline() {
    const queues = this.figures.flatMap((one) => one.queues || []), waiting = queues.reduce((sum, one) => sum + one.waiting, 0);
    const boxes = [
      ["Outbox", this.sum("outbox_waiting"), age(this.most("outbox_age_seconds")), this.most("outbox_age_seconds") > LATE || this.sum("outbox_overdue") > 0],
      ["Bus", waiting, this.parked ? `${this.parked} parked` : "nothing is parked", this.parked > 0],
      ["Log", this.position.value || 0, `events of ${this.app.studio?.name || "no studio"}`, false],
      ["Deliveries", this.sum("pending_deliveries"), `${this.failing.length ? `${this.failing.length}${this.failing.length === TOLD ? " or more" : ""} ${this.failing.length === 1 ? "endpoint fails" : "endpoints fail"}` : age(this.most("oldest_pending_seconds"))}${this.sum("dead_deliveries") ? ` · ${this.sum("dead_deliveries")} dead` : ""}`, this.most("oldest_pending_seconds") > LATE || this.failing.length > 0],
    ];
    return html`<ol class="pipeline" aria-label="Event pipeline">${boxes.map(([name, count, text, stops]) => html`<li class=${stops ? "stops" : ""}><span class="soft">${name}</span><strong class="figure">${count.toLocaleString("en")}</strong><span class=${stops ? "bad" : "faint"}>${stops ? "✕ " : ""}${text}</span></li>`)}</ol>`;
  }
  charts(rows) {
    const line = (title, kinds, names, values, unit = "") => html`<section class="card tile"><h2 class="soft">${title}</h2><st-line .points=${rows.map((row) => ({ at: row.at, values: values(row) }))} .kinds=${kinds} .names=${names} unit=${unit} label=${title} height="56"></st-line></section>`;
    return rows.length > 1 ? html`<div class="tiles">${line("Requests a minute", ["good", "bad"], ["requests", "errors"], (row) => [row.requests, row.errors])}${line("Slowest 5 % (p95)", ["good"], ["p95"], (row) => [row.p95_ms || 0], " ms")}${line("Waiting events", ["good", "warn"], ["outbox", "bus"], (row) => [row.outbox_waiting, row.queue_waiting])}${line("Waiting deliveries", ["warn", "bad"], ["pending", "dead"], (row) => [row.pending_deliveries, row.dead_deliveries])}</div>` : html`<p class="note">The first figures are there after two minutes.</p>`;
  }
  failed(one) {
    const studio = this.app.studios.find((row) => row.id === one.studio_id), open = (event) => { event.preventDefault(); if (studio && studio.id !== this.app.studio?.id) this.app.choose(studio); location.hash = href("deliveries", [], { endpoint: one.id }); };
    return html`<li>${dot("failing")}<span><strong>${one.description || whereOf(one.url)}</strong> of ${studio?.name || "a studio"} has failed since ${inText(one.failing_since)}: ${errorText(one.last_error)} <span class="soft">· ${one.pending} waiting</span></span><a class="btn small" href="#/deliveries" @click=${open}>Open</a></li>`;
  }
  async look(queue) {
    try {
      const { data } = await this.app.root.get(`/queues/${encodeURIComponent(queue)}/parked`, { limit: 50 });
      const dialog = openDialog(`Parked in ${queue}`, () => html`<ul class="bad-lines">${data.map((row) => html`<li><p><strong>${row.reason}</strong> <code>${row.topic}</code></p><details><summary>Message</summary><pre class="code" tabindex="0">${row.body}</pre></details></li>`)}</ul><p class="row end"><button class="btn main" @click=${async () => { dialog.close(); await this.requeue(queue, data.map((row) => row.id)); }}>Requeue these ${data.length}</button></p>`, { wide: true });
    } catch (error) { failed(error); }
  }
  async requeue(queue, ids = null) {
    if (!ids && !await confirm("Send parked messages back?", `Every message that is parked in ${queue} is processed again.`, "Send them back", { danger: false })) return;
    try { const { requeued } = await this.app.root.post(`/queues/${encodeURIComponent(queue)}/parked/requeue`, { ids }); toast(`${requeued} sent back to ${queue}.`); } catch (error) { failed(error); }
    this.queues.run();
    this.status.run();
  }
  render() {
    return html`<div class="sheet-page system"><div class="head"><h1>System</h1></div>${panel(this.status, ({ services }) => {
      const parts = Object.values(services).flatMap((one) => Object.entries(one.parts || {})), good = parts.filter(([, text]) => text === "ok").length;
      const parked = (this.queues.value || []).filter((row) => row.parked);
      return html`<ul class="services">${Object.entries(services).map((one) => this.tile(one))}</ul><h2>Event pipeline</h2>${this.pipeline()}
        ${this.failing.length ? html`<ul class="card lines failing-list" aria-label="Failing endpoints">${this.failing.slice(0, 5).map((one) => this.failed(one))}${this.failing.length > 5 ? html`<li><span></span><span class="soft">and ${this.failing.length - 5} more</span></li>` : nothing}</ul>` : nothing}
        ${parked.length ? html`<section class="card"><h2>Parked</h2><div class="table-wrap"><table><thead><tr><th scope="col">Queue</th><th scope="col">Parked</th><th scope="col"><span class="gone">Actions</span></th></tr></thead><tbody>${parked.map((row) => html`<tr><th scope="row">${row.name}</th><td>${row.parked}</td><td class="row"><button class="btn small" @click=${() => this.look(row.name)}>Look</button><button class="btn small" @click=${() => this.requeue(row.name)}>Requeue all</button></td></tr>`)}</tbody></table></div></section>` : nothing}
        <h2>Last 60 minutes</h2>${panel(this.history, (rows) => this.charts(rows), { lines: 3 })}
        <details class="checks"><summary>${good === parts.length ? `${good} checks passed` : `${good} of ${parts.length} checks passed`}</summary><div class="check-grid">${Object.entries(services).map(([name, one]) => html`<p><strong>${name}</strong> ${Object.entries(one.parts || {}).map(([part, text]) => html`<span class="pill ${text === "ok" ? "good" : "bad"}">${words(part.split(".").at(-1))}${text === "ok" ? "" : `: ${text}`}</span> `)}</p>`)}</div></details>`;
    }, { lines: 6 })}</div>`;
  }
}
customElements.define("ops-system", System);
