// Recovery: sends an endpoint what it missed since a moment. Says how much that is before it starts, then shows how far it is.
import { chips, openDialog } from "../ui/controls.js";
import { counted, html, meter, nothing, problem } from "../ui/element.js";
import { inText, instant, sinceText, zones } from "../ui/time.js";
import { endpointName } from "./sentences.js";

export function openRecovery(app, endpoint, failingSince, finished = () => {}) {
  const { api } = app;
  let since = failingSince ? "failed" : "hour", own = "", count = null, run = null, error = null, asked = 0, watching = true, more = false;
  // What is typed is a time of the chosen zone, as every time on the page.
  const start = () => {
    if (since === "failed") return failingSince;
    if (since === "hour") return new Date(Date.now() - 3600000).toISOString();
    return own ? instant(...own.split("T")).toISOString() : null;
  };
  async function estimate() {
    const turn = ++asked, from = start();
    count = null; error = null;
    dialog.redraw();
    if (!from) return;
    const path = `/webhook-endpoints/${endpoint.id}/missed-events`;
    const found = await api.get(path, { since: from }).catch((refused) => refused);
    if (turn !== asked) return;
    if (found instanceof Error) error = found; else { count = found.count; more = !found.complete; }
    dialog.redraw();
  }
  async function go() {
    error = null;
    try {
      run = await api.post(`/webhook-endpoints/${endpoint.id}/recover`, { since: start() });
      dialog.redraw();
      while (run.status === "running" && watching) {
        await new Promise((done) => setTimeout(done, 800));
        run = await api.get(`/webhook-endpoints/${endpoint.id}/recoveries/${run.id}`);
        dialog.redraw();
      }
      finished();
    } catch (problem_) { error = problem_; dialog.redraw(); }
  }
  const total = (number) => number.toLocaleString("en");
  const running = () => {
    const done = run.status === "done", most = Math.max(run.offered, count || 1);
    const said = done ? html`<strong>Done.</strong> ${counted(run.offered, "event was", "events were")} queued; the deliveries show how they fare.`
      : `${total(run.offered)}${count ? ` of about ${total(count)}` : ""} events looked at and queued…`;
    return html`<p role="status">${said}</p>${meter(done ? 1 : run.offered, done ? 1 : most, "Progress")}${error ? problem(error) : nothing}
      <p class="row end"><button class="btn" @click=${() => dialog.close()}>${done ? "Close" : "Stop watching"}</button></p>`;
  };
  const zone = () => zones.current.replaceAll("_", " ");
  const estimated = () => {
    if (!start()) return "Choose a moment.";
    if (count === null) return "Counting…";
    const what = more ? " or more events" : count === 1 ? " event" : " events", rest = count ? "" : " Nothing is lost: what waits is tried by itself.";
    return html`<strong>${total(count)}</strong>${what} since ${inText(start())} (${zone()}) did not reach it.${rest}`;
  };
  const presets = [...(failingSince ? [["failed", `Since it failed (${sinceText(failingSince)})`]] : []), ["hour", "Last hour"], ["own", "Since…"]];
  const moment = () => html`<label class="field"><span>Since (${zone()})</span>
    <input type="datetime-local" .value=${own} @change=${(event) => { own = event.target.value; estimate(); }}></label>`;
  const form = () => html`
    <p class="soft">Every event since then that the endpoint takes and has not received is sent, and dead deliveries are tried again.</p>
    ${chips("Since", presets, since, (value) => { since = value; estimate(); })}${since === "own" ? moment() : nothing}
    ${error ? problem(error, estimate) : html`<p role="status">${estimated()}</p>`}
    <p class="row end"><button class="btn" @click=${() => dialog.close()}>Cancel</button>
      <button class="btn main" ?disabled=${!start()} @click=${go}>Recover</button></p>`;
  const dialog = openDialog(`Recover ${endpointName(endpoint)}`, () => (run ? running() : form()), { onclose: () => { watching = false; } });
  estimate();
}
