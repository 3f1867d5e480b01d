// A new endpoint or a changed one: address, event types as a tree with scopes, then its secret, a receiver, and a first test.
import { chips, field, openDialog } from "../ui/controls.js";
import { copyButton, go, href, html, icon, live, nothing, problem, toast } from "../ui/element.js";
import { endpointName, familyOf } from "./sentences.js";

const GO = `// go get github.com/standard-webhooks/standard-webhooks/libraries/go
hook, _ := standardwebhooks.NewWebhook(os.Getenv("WEBHOOK_SECRET"))
http.HandleFunc("/hooks/studio", func(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	if err := hook.Verify(body, r.Header); err != nil {
		w.WriteHeader(400)
		return
	}
	w.WriteHeader(204)
})`;
// The others are the reference's, which its tests run.
async function readReceivers() {
  const { webhooks } = await fetch("/docs/guides.json").then((response) => response.json());
  const { blocks } = webhooks.sections.find((one) => one.id === "webhooks-verify-then-answer");
  const code = (language) => blocks.find((one) => one.language === language).text;
  return { Python: code("python"), Node: code("js"), Go: GO };
}
const SECRET = /os\.environ\["WEBHOOK_SECRET"\]|process\.env\.WEBHOOK_SECRET|os\.Getenv\("WEBHOOK_SECRET"\)/;

// Why an address is not good, while it is typed.
function wrongUrl(text) {
  if (!text) return nothing;
  let url;
  try { url = new URL(text); } catch { return "This is not an address yet: https://your-server/hooks"; }
  const local = ["localhost", "127.0.0.1", "[::1]"].includes(url.hostname);
  if (url.username || url.password) return "An address must not have a user name or a password in it.";
  if (url.protocol !== "https:" && !(url.protocol === "http:" && local)) return "Only https is allowed, and http for loopback addresses of a local system.";
  return nothing;
}

function typeTree(types, chosen, text, change) {
  const found = types.filter((one) => one.name !== "webhook.test" && `${one.name} ${one.description}`.toLowerCase().includes(text.toLowerCase()));
  const families = Map.groupBy(found, (one) => familyOf(one.name));
  const set = (names, on) => { for (const name of names) { if (on) chosen.add(name); else chosen.delete(name); } change(); };
  return html`<div class="tree" role="group" aria-label="Event types">${[...families].map(([family, rows]) => {
    const names = rows.map((row) => row.name), picked = names.filter((name) => chosen.has(name)).length;
    return html`<div class="family"><input type="checkbox" aria-label="All of ${family}" .checked=${live(picked === names.length)} .indeterminate=${picked > 0 && picked < names.length} @change=${(event) => set(names, event.target.checked)}><details ?open=${picked > 0 || Boolean(text)}><summary><strong>${family.replaceAll("_", " ")}</strong> <span class="faint">${picked ? `${picked} of ${names.length}` : names.length}</span></summary>
      ${rows.map((row) => html`<label class="leaf"><input type="checkbox" .checked=${live(chosen.has(row.name))} @change=${(event) => set([row.name], event.target.checked)}> <span><code>${row.name}</code> <span class="soft">${row.description}</span></span> <code class="faint">${row.scope || ""}</code></label>`)}</details></div>`;
  })}</div>`;
}

export async function endpointSheet(app, { endpoint = null, done = () => {} } = {}) {
  const [types, receivers] = await Promise.all([app.names.list("event-types"), endpoint ? {} : readReceivers().catch(() => ({ Go: GO }))]);
  const draft = { url: endpoint?.url || "", description: endpoint?.description || "", chosen: new Set(endpoint?.event_types || []), all: !endpoint?.event_types.length, fifo: endpoint?.fifo || false, rate: endpoint?.rate_limit ?? "", text: "" };
  let made = null, error = null, busy = false;
  const set = (name) => (event) => { draft[name] = event.target.type === "checkbox" ? event.target.checked : event.target.value; dialog.redraw(); };
  async function save(event) {
    event.preventDefault();
    busy = true; error = null; dialog.redraw();
    const body = { url: draft.url.trim(), description: draft.description, event_types: draft.all ? [] : [...draft.chosen], fifo: draft.fifo, rate_limit: draft.rate === "" ? null : Number(draft.rate) };
    try {
      if (endpoint) { const row = await app.api.patch(`/webhook-endpoints/${endpoint.id}`, body); toast(`${endpointName(row)} is changed.`); done(row); dialog.close(); return; }
      made = await app.api.post("/webhook-endpoints", body);
      done(made);
    } catch (problem_) { error = problem_; }
    busy = false;
    dialog.redraw();
  }
  const form = () => html`<form class="stack" @submit=${save}>
    ${field("Address", html`<input type="url" data-first required placeholder="https://your-server/hooks/studio" .value=${live(draft.url)} @input=${set("url")}>`, { wrong: wrongUrl(draft.url), hint: "Gets a signed POST for each event, and answers with any 2xx within a few seconds." })}
    ${field("Description", html`<input maxlength="200" placeholder="Orders service" .value=${live(draft.description)} @input=${set("description")}>`)}
    <div class="field"><span>Event types</span>${chips("Which events", [[true, "All that the key may see"], [false, "Only some", draft.all ? null : draft.chosen.size]], draft.all, (all) => { draft.all = all; dialog.redraw(); })}</div>
    ${draft.all ? nothing : html`<input type="search" aria-label="Search event types" placeholder="Search event types" .value=${live(draft.text)} @input=${set("text")}>${typeTree(types, draft.chosen, draft.text, () => dialog.redraw())}`}
    <details><summary>Advanced</summary><div class="stack inset"><label class="row"><input type="checkbox" .checked=${live(draft.fifo)} @change=${set("fifo")}> In order, one at a time</label>
      ${field("At most a second", html`<input type="number" min="0.1" step="0.1" placeholder="no limit" .value=${live(String(draft.rate))} @input=${set("rate")}>`)}</div></details>
    ${error ? problem(error) : nothing}
    <p class="row end"><button type="button" class="btn" @click=${() => dialog.close()}>Cancel</button><button class="btn main" ?disabled=${busy || wrongUrl(draft.url) !== nothing || (!draft.all && !draft.chosen.size)}>${endpoint ? "Save" : "Create"}</button></p></form>`;
  const dialog = openDialog(endpoint ? "Edit endpoint" : "Add endpoint", () => (made ? created(app, made, dialog, receivers) : form()), { sheet: true });
}

// Step 2: what is shown only once, and the first delivery.
function created(app, made, dialog, receivers) {
  const languages = Object.keys(receivers);
  dialog.language ||= languages[0];
  const code = receivers[dialog.language].replace(SECRET, JSON.stringify(made.secret));
  return html`<div class="stack"><p><span class="good">${icon("check")}</span> <strong>${endpointName(made)}</strong> is created.</p>
    <div class="secret"><span class="over-line">Signing secret, shown only once</span><code>${made.secret}</code>${copyButton(made.secret, "Copy", "btn small")}</div>
    ${chips("Language", languages.map((name) => [name, name]), dialog.language, (name) => { dialog.language = name; dialog.redraw(); })}
    <pre class="code" tabindex="0">${code}</pre>
    <p class="row">${copyButton(code, "Copy receiver")}<button class="btn main" ?disabled=${dialog.testing} @click=${async () => { dialog.testing = true; dialog.redraw(); dialog.result = await sendTest(app, made); dialog.testing = false; dialog.redraw(); }}>${dialog.testing ? "Sending…" : "Send test event"}</button></p>
    ${dialog.result ? testResult(dialog.result) : nothing}
    <p class="row end"><a class="btn" href=${href("webhooks", [made.id])} @click=${() => dialog.close()}>Open its page</a><button class="btn" @click=${() => dialog.close()}>I have stored the secret</button></p></div>`;
}
function testResult(row) {
  const last = row.attempts?.at(-1);
  if (row.status === "succeeded") return html`<p class="tested good" role="status">${icon("check")} ${last.response_status} in ${last.duration_ms} ms</p>`;
  if (!last) return html`<p class="tested warn" role="status">Not sent yet; its page shows it when it is.</p>`;
  return html`<div class="tested bad" role="status"><p>✕ ${last.response_status ?? "No answer"} after ${last.duration_ms} ms</p><pre class="code" tabindex="0">${last.response_body || last.error || "(no body)"}</pre></div>`;
}
export function secretDialog(app, row) {
  openDialog("New secret", (dialog) => html`<div class="secret"><span class="over-line">Shown only once</span><code>${row.secret}</code>${copyButton(row.secret, "Copy", "btn small")}</div><p class="soft">Put it into your receiver. The old one signs beside it for a day.</p><p class="row end"><button class="btn main" @click=${() => dialog.close()}>I have stored it</button></p>`);
}
// Sends a test event and waits until it was tried. With `open`, shows its delivery at once.
export async function sendTest(app, endpoint, { open = false } = {}) {
  try {
    let row = await app.api.post(`/webhook-endpoints/${endpoint.id}/test`);
    if (open) { toast(`Test event sent to ${endpointName(endpoint)}.`); go(href("webhooks", [endpoint.id, row.id])); return row; }
    for (let round = 0; round < 30 && !row.attempt_count; round += 1) {
      await new Promise((done) => setTimeout(done, 250));
      row = await app.api.get(`/webhook-deliveries/${row.id}`);
    }
    return row;
  } catch (error) { toast(error.message, { kind: "bad" }); return { status: "failed", attempts: [] }; }
}
