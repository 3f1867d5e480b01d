// Home: is the integration working right now, and what to do first.
import { copyButton, counted, dot, href, html, icon, Load, nothing, panel, Piece, pill, skeleton } from "../ui/element.js";
import { chips } from "../ui/controls.js";
import { poll } from "../ui/live.js";
import { lasting, sinceText } from "../ui/time.js";
import { endpointSheet, sendTest } from "./endpoint-sheet.js";
import { errorText, readHealth } from "./endpoints.js";
import { here, reference } from "./reference.js";
import { endpointName } from "./sentences.js";

class Home extends Piece {
  static properties = { app: {}, route: {} };
  connectedCallback() {
    super.connectedCallback();
    const { app } = this, hooks = app.may("webhooks:read");
    Object.assign(this, { language: "curl", opened: null, answers: new Map() });
    this.traffic = new Load(this, () => app.traffic.of("24h", this.signal));
    this.endpoints = new Load(this, async () => {
      if (!hooks) return [];
      const [rows, health] = await Promise.all([app.outcomes.listEndpoints({ again: true }), readHealth(app, this.signal), app.outcomes.refresh(this.signal, 50).catch(() => {})]);
      return rows.map((row) => ({ row, health: health.get(row.id) })).filter((one) => one.health);
    });
    this.codes = new Load(this, () => app.traffic.codes(this.signal));
    this.hour = new Load(this, () => app.traffic.of("1h", this.signal));
    this.booked = new Load(this, () => app.api.get("/requests", { route: "/bookings", status_class: "2xx", source: "key", limit: 50 }, { signal: this.signal }).then(({ data }) => data.some((row) => row.method === "POST")));
    this.ops = new Load(this, () => reference());
    this.ops.run();
    this.refresh();
    this.nudge = poll(() => this.refresh(), this.signal, { fast: 5, slow: 150 });
    app.follower?.subscribe(() => { this.news = true; this.nudge(); }, this.signal);
  }
  async refresh() {
    const { news } = this;
    this.news = false;
    const bars = () => (this.traffic.value?.points || []).filter(({ values }) => values.some(Boolean)).map(({ at, values }) => [at, ...values].join()), before = bars();
    await this.traffic.run();
    const changed = () => bars().some((bar) => !before.includes(bar)); // an hour that went out of sight is none
    if (changed() || this.endpoints.state === "loading" || this.endpoints.error) await Promise.all([this.endpoints.run(), this.codes.run(), this.hour.run(), this.booked.value ? null : this.booked.run()]);
    else if (news || this.attention().some((one) => one.kind === "bad")) await this.endpoints.run();
    this.app.setFailing((this.endpoints.value || []).filter(({ health }) => health.failing).length);
    return changed() || this.attention().some((one) => one.kind === "bad");
  }
  deliveryPoints() {
    const all = (this.endpoints.value || []).map(({ health }) => health.points);
    return all.length ? all[0].map((point, n) => ({ at: point.at, values: [0, 1].map((kind) => all.reduce((sum, points) => sum + (points[n]?.values[kind] || 0), 0)) })) : [];
  }
  tile(title, figure, chart, to, kind = "") {
    return html`<section class="card tile"><h2><a href=${to}>${title}</a></h2><p class="figure ${kind}">${figure}</p>${chart}</section>`;
  }
  tiles() {
    if (this.traffic.state === "loading") return html`<div class="tiles">${[1, 2, 3, 4].map(() => html`<section class="card tile">${skeleton(3)}</section>`)}</div>`;
    return panel(this.traffic, (value) => {
      const rate = value.total ? value.errors / value.total : 0, sent = this.deliveryPoints(), sums = sent.reduce(([a, b], point) => [a + point.values[0], b + point.values[1]], [0, 0]);
      const waiting = (this.endpoints.value || []).reduce((sum, { health }) => sum + health.waiting, 0);
      return html`<div class="tiles">
        ${this.tile("Requests", value.total.toLocaleString("en"), html`<st-bars .points=${value.points} .kinds=${["good", "warn", "bad"]} .names=${["ok", "4xx", "5xx"]} label="Requests an hour"></st-bars>`, href("requests"))}
        ${this.tile("Error rate", value.total ? `${(rate * 100).toFixed(1)} %` : "–", html`<st-bars .points=${value.points.map((point) => { const all = point.values[0] + point.values[1] + point.values[2]; return { at: point.at, values: all ? [(point.values[1] / all) * 100, (point.values[2] / all) * 100] : [0, 0] }; })} .kinds=${["warn", "bad"]} .names=${["4xx", "5xx"]} unit=" %" label="Error rate"></st-bars>`, href("requests", [], { status: "4xx" }))}
        ${this.tile("p95", value.p95 === null ? "–" : lasting(value.p95), html`<st-bars .points=${value.points.map((point) => ({ at: point.at, values: [point.p95] }))} .kinds=${["idle"]} unit=" ms" label="95th percentile"></st-bars>`, href("requests"))}
        ${this.tile("Deliveries", html`${this.endpoints.value ? sums[0].toLocaleString("en") : "–"}${waiting ? html` <small class="warn">${waiting.toLocaleString("en")} waiting</small>` : nothing}`, sent.length ? html`<st-bars .points=${sent} .kinds=${["good", "bad"]} .names=${["delivered", "failed or waiting"]} label="Deliveries an hour"></st-bars>` : html`<p class="faint">${this.endpoints.value ? "No endpoint yet." : this.endpoints.error ? "They could not be read." : "Reading…"}</p>`, href("webhooks"))}</div>`;
    }, { lines: 4 });
  }
  // The skeleton or the problem of the first of these that is not there yet.
  missing(...loads) { const load = loads.find((one) => one.state === "error") || loads.find((one) => one.state === "loading"); return load ? panel(load, () => nothing) : null; }
  attention() {
    const { key } = this.app, found = [], peak = this.hour.value?.peak || 0;
    for (const { row, health } of this.endpoints.value || []) {
      if (row.status === "disabled") found.push({ kind: row.disabled_reason ? "bad" : "idle", text: html`<strong>${endpointName(row)}</strong> is disabled${row.disabled_reason ? `: ${row.disabled_reason.replaceAll("_", " ")}` : ""}`, to: href("webhooks", [row.id]), verb: "Open" });
      else if (health.error) found.push({ kind: health.failing ? "bad" : "warn", text: html`<strong>${endpointName(row)}</strong> ${health.failing ? "fails" : "has failed now and then"}${health.since ? ` since ${sinceText(health.since)}` : ""}${health.waiting ? `, ${health.waiting}${health.capped ? "+" : ""} waiting` : ""}: <span class="soft">${errorText(health.error)}</span>`, to: href("webhooks", [row.id]), verb: "Open" });
    }
    const days = key.expires_at ? (new Date(key.expires_at) - Date.now()) / 86400000 : Infinity;
    if (days < 14) found.push({ kind: days < 3 ? "bad" : "warn", text: `The key expires in ${counted(Math.max(0, Math.ceil(days)), "day")}`, to: href("settings"), verb: "Key" });
    for (const { code, times, status } of (this.codes.value || []).filter((one) => one.times >= 3 || one.status >= 500).slice(0, 3)) found.push({ kind: status >= 500 ? "bad" : "warn", text: html`${times} × ${status} <code>${code}</code> in the last hour`, to: href("requests", [], { error: code }), verb: "Requests" });
    const limit = key.rate_limit.requests_per_second;
    if (peak > limit * 0.6) found.push({ kind: "warn", text: `Rate limit: ${peak} of ${limit} a second in the busiest minute of the last hour`, to: href("settings"), verb: "Limits" });
    return found.sort((a, b) => ["bad", "warn", "idle"].indexOf(a.kind) - ["bad", "warn", "idle"].indexOf(b.kind)).slice(0, 5);
  }
  steps() {
    const list = this.endpoints.value || [], newest = [...this.app.outcomes.byEvent.values()].flat();
    return [
      { text: "Send the first request", done: this.traffic.value?.total > 0, op: "GET /studio", run: ["/studio", "studio:read"] },
      { text: "Create an endpoint", done: list.length > 0, op: "POST /webhook-endpoints", act: ["Add endpoint", () => endpointSheet(this.app, { done: () => this.refresh() })] },
      { text: "Verify the first delivery", done: newest.some((row) => row.status === "succeeded"), op: "POST /webhook-endpoints/{endpoint_id}/test", act: list.length ? ["Send test event", () => sendTest(this.app, list[0].row, { open: true })] : null },
      { text: "Make the first booking", done: Boolean(this.booked.value), op: "POST /bookings" },
      { text: "Handle a retry", done: newest.some((row) => row.status === "succeeded" && row.attempts > 1), op: "POST /webhook-deliveries/{delivery_id}/retry" },
    ];
  }
  async run([path]) {
    this.answers.set(path, null);
    this.requestUpdate();
    this.answers.set(path, await this.app.api.request("GET", path, { full: true }).catch((error) => ({ status: 0, body: { error: error.message }, ms: 0 })));
    this.requestUpdate();
  }
  step(step, n, open) {
    const op = this.ops.value?.get(step.op), sample = op?.samples.find((one) => one.label === (this.language === "Node" ? "JavaScript" : this.language));
    const answer = step.run && this.answers.get(step.run[0]);
    return html`<li class=${step.done ? "done" : ""}><button class="step" aria-expanded=${String(open)} @click=${() => { this.opened = open ? -1 : n; this.requestUpdate(); }}><span class="tick ${step.done ? "good" : ""}">${step.done ? icon("check") : n + 1}</span>${step.text}<span class="gone">${step.done ? " (done)" : ""}</span></button>
      ${open ? html`<div class="stack inset">${op ? html`${chips("Language", ["curl", "Python", "Node"].map((name) => [name, name]), this.language, (name) => { this.language = name; this.requestUpdate(); })}${sample ? html`<pre class="code" tabindex="0">${here(sample.source)}</pre>` : nothing}` : nothing}
        <p class="row">${sample ? copyButton(() => here(sample.source), "Copy") : nothing}${step.run && this.app.may(step.run[1]) ? html`<button class="btn" @click=${() => this.run(step.run)}>Run</button>` : nothing}${step.act && this.app.may("webhooks:write") ? html`<button class="btn main" @click=${step.act[1]}>${step.act[0]}</button>` : nothing}</p>
        ${answer ? html`<p role="status">${pill(answer.status)} in ${answer.ms} ms</p><st-json .value=${answer.body} depth="1" label="Response"></st-json>` : nothing}</div>` : nothing}</li>`;
  }
  start() {
    const steps = this.steps(), left = steps.findIndex((step) => !step.done), missing = this.missing(this.traffic, this.endpoints, this.booked);
    if (missing) return missing;
    if (left < 0 && this.opened === null) return html`<p class="row"><span class="good">${icon("check")}</span> <span class="grow">All five steps are done.</span><button class="link" @click=${() => { this.opened = 0; this.requestUpdate(); }}>Show them</button></p>`;
    const open = this.opened ?? left;
    return html`<ol class="steps">${steps.map((step, n) => this.step(step, n, n === open))}</ol>`;
  }
  render() {
    const lines = this.attention(), fresh = this.traffic.value && !this.traffic.value.total && !(this.endpoints.value || []).length;
    return html`<div class="sheet-page"><div class="head"><h1>Home</h1></div>
      ${fresh ? nothing : this.tiles()}
      <div class="two-columns home ${fresh ? "fresh-start" : ""}">${fresh ? nothing : html`<section class="card"><h2>Needs attention</h2>${this.missing(this.endpoints, this.codes) || (lines.length ? html`<ul class="lines">${lines.map((one) => html`<li>${dot(one.kind, one.kind)}<span>${one.text}</span><a class="btn small" href=${one.to}>${one.verb}</a></li>`)}</ul>` : html`<p class="row nowrap soft"><span class="good">${icon("check")}</span> Nothing. Requests succeed and deliveries arrive.</p>`)}</section>`}
      <section class="card"><h2>Get started</h2>${this.start()}</section></div></div>`;
  }
}
customElements.define("partner-home", Home);
