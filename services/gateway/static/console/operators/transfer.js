// Import & export. A file is always checked first; then it is imported; every bad line is shown with its reason.
import { counted, failed, html, icon, Load, meter, nothing, panel, Piece, problem, toast, words } from "../ui/element.js";

const CHECKED = 1500, SENT = 4000; // lines in one request
const SHOWN = 200;
const STEPS = ["File", "Check", "Import", "Report"];
const WRONG = /studio .*(not known|another studio|other studio)|names the studio/i;

export function save(blob, name) {
  const link = Object.assign(document.createElement("a"), { href: URL.createObjectURL(blob), download: name });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}
// An export is complete only if its last chunk arrives; a broken one fails here.
export async function download(app, query, name, told = () => {}) {
  try {
    const response = await fetch(`/operator/v1/export?${new URLSearchParams({ studio: app.studio.id, ...query })}`, { headers: { "X-Studio-Console": "1" }, credentials: "same-origin", cache: "no-store" });
    if (!response.ok) throw new Error(`The server answered ${response.status}.`);
    const parts = [], reader = response.body.getReader();
    for (let size = 0; ;) { const { done, value } = await reader.read(); if (done) break; parts.push(value); told(size += value.length); }
    save(new Blob(parts, { type: "application/x-ndjson" }), name);
    toast(`${name} is exported.`);
  } catch (error) { failed(error); }
}

// Lines of a file, some thousand at a time: [[number, text], …]
async function* pieces(blob, most) {
  const reader = blob.stream().pipeThrough(new TextDecoderStream()).getReader();
  let rest = "", number = 0, lines = [];
  for (;;) {
    const { done, value } = await reader.read();
    const parts = (rest + (value || "")).split("\n");
    rest = done ? "" : parts.pop();
    for (const text of parts) {
      number += 1;
      if (!text.trim()) continue;
      lines.push([number, text]);
      if (lines.length === most) { yield lines; lines = []; }
    }
    if (done) break;
  }
  if (lines.length) yield lines;
}
const read = (text) => { try { const value = JSON.parse(text); return value && typeof value === "object" ? value : null; } catch { return null; } };
// The field that a reason names, if the line has it.
const fieldOf = (reason, line) => { const [name] = /^[a-z_]+/.exec(reason) || []; return name && line && Object.hasOwn(line, name) ? name : null; };
const FIXES = [[/not a valid JSON/i, "One JSON object on one line, no comma at its end."], [/cannot be imported/, "Correct the object's name."], [/already|exists/i, "Another row has it: change one of the two."], [/not known|unknown|does not exist/i, "Put the line that it refers to before it, or correct the id."], [/time zone/i, "Use a name like Europe/Berlin."], [/email/i, "Correct the address."]];
const fixFor = (reason) => (FIXES.find(([pattern]) => pattern.test(reason)) || [null, "Correct the field and import again: lines that are there already are passed over."])[1];

class Transfer extends Piece {
  static properties = { app: {}, route: {} };
  connectedCallback() {
    super.connectedCallback();
    this.reset();
    this.past = new Load(this, () => this.app.root.get("/audit", { studio: this.app.studio.id, action: "import", order: "desc", limit: 10 }, { signal: this.signal }).then((page) => page.data));
    this.past.run();
  }
  reset() { Object.assign(this, { step: 0, blob: null, name: "", busy: false, error: null, checked: null, report: null, events: true, target: null }); this.requestUpdate(); }
  take(blob, name) { if (!blob?.size) return; this.reset(); Object.assign(this, { blob, name, step: 1 }); this.run(true); }
  // The studio that the file names with its first line, else the chosen one.
  async aim() {
    const head = read((await this.blob.slice(0, 65536).text()).split("\n", 1)[0]);
    return head?.object === "studio" && this.app.operator ? { name: head.name || head.slug, id: null, own: true } : { name: this.app.studio.name, id: this.app.studio.id, own: false };
  }
  async run(dry) {
    const sum = { lines: 0, good: 0, kinds: new Map(), bad: [], count: 0, bytes: 0, began: Date.now() }, known = new Map(), studios = [];
    Object.assign(this, { busy: true, error: null, [dry ? "checked" : "report"]: sum, step: dry ? 1 : 2 });
    try {
      this.target = await this.aim();
      for await (const lines of pieces(this.blob, dry ? CHECKED : SENT)) {
        const things = lines.map(([, text]) => read(text));
        // A dry run stores nothing: what these lines refer to is sent along.
        const earlier = dry ? [...studios, ...[...new Set(things.flatMap((one) => (one ? Object.entries(one).filter(([name, value]) => name.endsWith("_id") && known.has(value)).map(([, value]) => value) : [])))].map((id) => known.get(id))] : [];
        const raw = [...earlier.map((one) => JSON.stringify(one)), ...lines.map(([, text]) => text)].join("\n");
        const answer = await this.app.root.request("POST", "/import", { raw, signal: this.signal, headers: { "Content-Type": "application/x-ndjson" }, query: { studio: this.target.own ? undefined : this.target.id, first_line: 1, dry_run: dry || undefined, earlier_lines: dry ? earlier.length : undefined, events: this.events ? undefined : "false" } });
        const bad = new Map(answer.rejected.map((row) => [row.line, row.reason]));
        lines.forEach(([number, text], n) => {
          const reason = bad.get(n + 1), kind = things[n]?.object || "not readable", counts = sum.kinds.get(kind) || [0, 0];
          counts[reason ? 1 : 0] += 1;
          sum.kinds.set(kind, counts);
          if (reason) { sum.count += 1; if (sum.bad.length < 20000) sum.bad.push({ number, text, reason, line: things[n] }); } else if (dry && things[n]?.id) { if (kind === "studio") studios.push(things[n]); else known.set(things[n].id, { object: kind, id: things[n].id, studio_id: things[n].studio_id }); }
          sum.bytes += text.length + 1;
        });
        Object.assign(sum, { lines: sum.lines + lines.length, good: sum.good + lines.length - bad.size });
        this.requestUpdate();
      }
      if (!dry) { this.step = 3; this.past.run(); toast(`${sum.good.toLocaleString("en")} of ${counted(sum.lines, "line")} imported.`); }
    } catch (error) { if (error.name !== "AbortError") this.error = error; }
    this.busy = false;
    this.requestUpdate();
  }
  figures(sum, verb) {
    const seconds = Math.max(0.1, (Date.now() - sum.began) / 1000);
    return html`<div role="status"><p><strong>${sum.lines.toLocaleString("en")}</strong> ${sum.lines === 1 ? "line" : "lines"} read · <strong class="good">${sum.good.toLocaleString("en")}</strong> ${verb} · <strong class=${sum.count ? "bad" : ""}>${sum.count.toLocaleString("en")}</strong> bad ${this.busy ? html`<span class="faint">${Math.round(sum.lines / seconds).toLocaleString("en")} a second</span>` : nothing}</p>${this.busy ? meter(sum.bytes, this.blob.size, "Progress") : nothing}</div>
      ${sum.kinds.size ? html`<div class="table-wrap"><table class="narrow"><thead><tr><th scope="col">Kind</th><th scope="col">Good</th><th scope="col">Bad</th></tr></thead><tbody>${[...sum.kinds].map(([kind, [good, bad]]) => html`<tr><th scope="row">${words(kind)}</th><td>${good.toLocaleString("en")}</td><td class=${bad ? "bad" : "soft"}>${bad.toLocaleString("en")}</td></tr>`)}</tbody></table></div>` : nothing}`;
  }
  badLines(sum) {
    if (!sum.count) return nothing;
    // Lines of another studio are one mistake, not as many as there are lines.
    const foreign = sum.bad.filter((row) => WRONG.test(row.reason)), rest = sum.bad.filter((row) => !WRONG.test(row.reason));
    const mark = (row) => {
      const name = fieldOf(row.reason, row.line), found = name && new RegExp(`"${name}"\\s*:\\s*`).exec(row.text);
      if (!found) return row.text.slice(0, 400);
      const at = found.index, end = at + found[0].length + JSON.stringify(row.line[name]).length;
      return html`${row.text.slice(Math.max(0, at - 120), at)}<mark>${row.text.slice(at, end)}</mark>${row.text.slice(end, end + 160)}`;
    };
    return html`<h2>Bad lines</h2>${foreign.length ? html`<p class="problem flat">${foreign.length} ${foreign.length === 1 ? "line belongs" : "lines belong"} to a studio that is not ${this.target?.name || "this one"}. Choose that studio in the top bar, or begin the file with its studio line.</p>` : nothing}
      <ul class="bad-lines">${rest.slice(0, SHOWN).map((row) => html`<li><p><span class="num faint">Line ${row.number}</span> <strong>${row.reason}</strong> <span class="soft">${fixFor(row.reason)}</span></p><pre class="code" tabindex="0">${mark(row)}</pre></li>`)}</ul>${rest.length > SHOWN ? html`<p class="soft">And ${rest.length - SHOWN} more: download them.</p>` : nothing}
      <p><button class="btn" @click=${() => save(new Blob([sum.bad.map((row) => row.text).join("\n"), "\n"]), `bad-lines-of-${this.name || "import.ndjson"}`)}>Download bad lines as NDJSON</button></p>`;
  }
  first() {
    const drop = (event) => { event.preventDefault(); const file = event.dataTransfer?.files[0]; if (file) this.take(file, file.name); };
    return html`<div class="drop" @dragover=${(event) => event.preventDefault()} @drop=${drop}>${icon("files")}<p><strong>Drop a file here</strong>, one resource per line (NDJSON)</p><label class="btn">Choose a file<input class="gone" type="file" accept=".ndjson,.jsonl,.json,.txt" @change=${(event) => { const [file] = event.target.files; this.take(file, file?.name); }}></label></div>
      <details><summary>Or paste the lines</summary><form class="stack" @submit=${(event) => { event.preventDefault(); this.take(new Blob([event.target.elements.lines.value]), "pasted.ndjson"); }}><textarea name="lines" rows="6" aria-label="Lines" spellcheck="false" required></textarea><p><button class="btn">Check them</button></p></form></details>`;
  }
  importing() {
    const { checked, report } = this;
    if (this.step === 0) return this.first();
    const into = this.target ? html`<p class="soft">${this.name} → <strong>${this.target.name}</strong>${this.target.own ? " (named by the file)" : ""}</p>` : nothing;
    if (this.step === 1) return html`${into}${checked ? this.figures(checked, "good") : nothing}${this.busy ? html`<p class="soft">Checking. Nothing is stored.</p>` : html`${checked && !this.error ? this.badLines(checked) : nothing}
      <label class="row"><input type="checkbox" .checked=${this.events} @change=${(event) => { this.events = event.target.checked; this.requestUpdate(); }}><span>Tell partners by events <span class="soft">(switch off for a first load)</span></span></label>
      <p class="row"><button class="btn" @click=${() => this.reset()}>Another file</button><button class="btn main" ?disabled=${!checked?.good} @click=${() => this.run(false)}>Import ${checked?.good ? `${checked.good.toLocaleString("en")} ${checked.good === 1 ? "line" : "lines"}` : ""}</button></p>`}`;
    return html`${into}${report ? this.figures(report, "imported") : nothing}${this.step === 3 ? html`${this.badLines(report)}<p><button class="btn main" @click=${() => this.reset()}>Import another file</button></p>` : html`<p class="soft">Importing. Leave this page open.</p>`}`;
  }
  async export() { this.exported = 0; await download(this.app, {}, `${this.app.studio.slug || "studio"}.ndjson`, (bytes) => { this.exported = bytes; this.requestUpdate(); }); this.exported = null; this.requestUpdate(); }
  render() {
    return html`<div class="sheet-page"><div class="head"><h1>Import & export</h1></div><div class="two-columns wide-left"><section class="card"><ol class="stepper-line" aria-label="Steps">${STEPS.map((name, n) => html`<li class=${n < this.step || (n === 3 && this.step === 3) ? "done" : ""} aria-current=${n === this.step ? "step" : nothing}><i>${n < this.step ? "✓" : n + 1}</i>${name}</li>`)}</ol>
        ${this.importing()}${this.error ? problem(this.error, () => this.run(this.step === 1)) : nothing}</section>
      <div class="stack"><section class="card"><h2>Export</h2><p class="soft">Everything of ${this.app.studio.name} in an order that can be imported again. Keys, endpoints and events are not in it.</p><p class="row"><button class="btn" ?disabled=${this.exported !== null && this.exported !== undefined} @click=${() => this.export()}>Export</button>${this.exported ? html`<span class="soft" role="status">${(this.exported / 1e6).toFixed(1)} MB</span>` : nothing}</p></section>
      <section class="card"><h2>Earlier imports</h2>${panel(this.past, (rows) => html`<ul class="people">${rows.map((row) => html`<li><span class="grow">${row.actor_name}</span><span class="soft"><st-time .at=${row.at}></st-time></span></li>`)}</ul>`, { isEmpty: (rows) => !rows.length, empty: html`<p class="soft">None yet.</p>`, lines: 2 })}</section></div></div></div>`;
  }
}
customElements.define("ops-transfer", Transfer);
