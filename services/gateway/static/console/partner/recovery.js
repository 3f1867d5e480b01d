// Recovery: sends an endpoint what it missed since a moment. Says how much that is before it starts, then shows how far it is.
import { html, nothing } from "../vendor/lit.js";
import { openDialog } from "../ui/dialog.js";
import { problem } from "../ui/element.js";
import { chips } from "../ui/filter-bar.js";
import { meter } from "../ui/marks.js";
import { clock, dayAndTime, zones } from "../ui/time.js";
import { endpointName } from "./sentences.js";

export function openRecovery(app, endpoint, failingSince) {
  const { api } = app;
  let since = failingSince ? "failed" : "hour", own = "", count = null, run = null, error = null, asked = 0, watching = true, more = false;
  const start = () => (since === "failed" ? failingSince : since === "hour" ? new Date(Date.now() - 3600000).toISOString() : own ? new Date(own).toISOString() : null);
  async function estimate() {
    const turn = ++asked, moment = start();
    count = null;
    dialog.redraw();
    if (!moment) return;
    const found = await api.get(`/webhook-endpoints/${endpoint.id}/missed-events`, { since: moment }, { quiet: true }).catch(() => null);
    if (turn === asked) { count = found && found.count; more = Boolean(found && !found.complete); dialog.redraw(); }
  }
  async function go() {
    error = null;
    try {
      run = await api.post(`/webhook-endpoints/${endpoint.id}/recover`, { since: start() });
      dialog.redraw();
      while (run.status === "running" && watching) {
        await new Promise((done) => setTimeout(done, 800));
        run = await api.get(`/webhook-endpoints/${endpoint.id}/recoveries/${run.id}`, {}, { quiet: true });
        dialog.redraw();
      }
    } catch (problem_) { error = problem_; dialog.redraw(); }
  }
  const dialog = openDialog(`Recover ${endpointName(endpoint)}`, () => (run
    ? html`<p role="status">${run.status === "done" ? html`<strong>Done.</strong> ${run.offered.toLocaleString("en")} events were queued; the deliveries show how they fare.` : `${run.offered.toLocaleString("en")}${count ? ` of about ${count.toLocaleString("en")}` : ""} events looked at and queued…`}</p>
      ${meter(run.status === "done" ? 1 : run.offered, run.status === "done" ? 1 : Math.max(run.offered, count || 1), "Progress")}${error ? problem(error) : nothing}<p class="row end"><button class="btn" @click=${() => dialog.close()}>${run.status === "done" ? "Close" : "Stop watching"}</button></p>`
    : html`<p class="soft">Every event since then that the endpoint takes and has not received is sent, and dead deliveries are tried again.</p>
      ${chips("Since", [...(failingSince ? [["failed", `Since it failed (${clock(failingSince)})`]] : []), ["hour", "Last hour"], ["own", "Since…"]], since, (value) => { since = value; estimate(); })}
      ${since === "own" ? html`<label class="field"><span>Since (${Intl.DateTimeFormat().resolvedOptions().timeZone})</span><input type="datetime-local" .value=${own} @change=${(event) => { own = event.target.value; estimate(); }}></label>` : nothing}
      <p role="status">${start() ? html`${count === null ? "Counting…" : html`<strong>${count.toLocaleString("en")}</strong>${more ? " or more" : ""} events since ${dayAndTime(start())} (${zones.current.replaceAll("_", " ")}) did not reach it.${count ? nothing : " Nothing is lost: what waits is tried by itself."}`}` : "Choose a moment."}</p>
      ${error ? problem(error) : nothing}<p class="row end"><button class="btn" @click=${() => dialog.close()}>Cancel</button><button class="btn main" ?disabled=${!start()} @click=${go}>Recover</button></p>`), { onclose: () => { watching = false; } });
  estimate();
}
