// The attempts of a delivery, for both consoles: where it is on its schedule, and what one attempt sent and got.
import { html, nothing } from "../vendor/lit.js";
import { quote } from "../ui/api.js";
import { withQuery } from "../ui/route.js";
import { clock, lasting, relative } from "../ui/time.js";
import { overdue } from "./outcomes.js";
import { whereOf } from "./sentences.js";

// When a failed delivery is tried again, after the attempt before. The last step is the end.
const SCHEDULE = [5, 300, 1800, 7200, 18000, 36000, 50400, 72000, 86400];
export const TRIES = SCHEDULE.length + 1;
const good = (attempt) => attempt.response_status >= 200 && attempt.response_status < 300;
const parsed = (text) => { try { return JSON.parse(text); } catch { return null; } };

// The attempt of the address, else the newest.
export const chosenAttempt = (row, route) => Number(route.query.attempt) || row.attempts.length;
function attemptSteps(row, route) {
  const done = row.attempts.map((attempt, n) => ({
    kind: good(attempt) ? "good" : "bad",
    text: n ? `+${lasting(new Date(attempt.at) - new Date(row.attempts[n - 1].at))}` : clock(attempt.at),
    title: `Attempt ${n + 1}: ${attempt.response_status ?? attempt.error}`,
    to: withQuery(route, { attempt: n + 1 }), current: n + 1 === chosenAttempt(row, route),
  }));
  if (row.status !== "pending") return done;
  const late = overdue(row), title = late ? "The endpoint is paused: it is tried as soon as it answers" : "The next attempt";
  const next = { kind: "next", text: late ? "held back" : new Date(row.next_attempt_at) > Date.now() ? relative(row.next_attempt_at) : "now", title };
  const rest = SCHEDULE.slice(Math.min(SCHEDULE.length, done.length));
  return [...done, next, ...rest.map((seconds) => ({ kind: "later", text: `+${lasting(seconds * 1000)}` }))];
}
// Steps on a line: done ones filled, the next hollow, later ones pale.
export const timeline = (row, route) => html`<ol class="timeline" aria-label="Attempts">${attemptSteps(row, route).map((step) => {
  const inside = html`<i class="${step.kind} ${step.current ? "current" : ""}" aria-hidden="true"></i><span>${step.text}</span>`;
  return html`<li title=${step.title || nothing}>${step.to ? html`<a href=${step.to} aria-label=${step.title || step.text} aria-current=${step.current ? "step" : nothing}>${inside}</a>` : html`<span class="node">${inside}</span>`}</li>`;
})}</ol>`;
export function curlOf(url, event, attempt) {
  const headers = Object.entries({ "content-type": "application/json", ...attempt?.request_headers });
  const sent = headers.map(([name, value]) => `-H ${quote(`${name}: ${value}`)}`);
  return ["curl -i", "-X POST", ...sent, `-d ${quote(JSON.stringify(event))}`, quote(url)].join(" \\\n  ");
}

const head = (first, headers) => html`<div class="json headers"><div class="j-row"><strong>${first}</strong></div>
  ${Object.entries(headers || {}).map(([name, value]) => html`<div class="j-row"><span class="j-key plain">${name}</span> ${value}</div>`)}</div>`;
function response(attempt) {
  if (attempt.response_status === null) return html`<p class="problem flat">${attempt.error || "There was no answer."}</p>`;
  const body = parsed(attempt.response_body);
  return html`${head(attempt.response_status, attempt.response_headers)}${body && typeof body === "object"
    ? html`<st-json .value=${body} label="Response body"></st-json>`
    : html`<pre class="code" tabindex="0">${attempt.response_body || "(empty)"}</pre>`}`;
}
// `after` stands under the response.
export function attemptBoxes(row, route, url, event, after = nothing) {
  const n = chosenAttempt(row, route), attempt = row.attempts[n - 1];
  if (!attempt) {
    return html`<p class="note">${overdue(row)
      ? "The endpoint has failed too often and is paused. It is tried again as soon as a trial succeeds."
      : "Not tried yet."}</p>`;
  }
  const path = url ? whereOf(url).replace(/^[^/]*/, "") || "/" : "";
  return html`<h2 class="over-line">Attempt ${n} · ${attempt.response_status ?? "no answer"} · ${attempt.duration_ms} ms ·
      <st-time .at=${attempt.at}></st-time></h2>
    <div class="boxes">
      <section><h2>Request</h2>${head(`POST ${path}`, attempt.request_headers)}
        ${event ? html`<st-json .value=${event} depth="2" label="Request body"></st-json>` : nothing}</section>
      <section><h2>Response</h2>${response(attempt)}${after}</section></div>`;
}
