// The base of every component and page: Lit, drawn into the page itself, so that one style sheet and every label reach it.
import { html, LitElement, live, nothing, ref, render, repeat, svg } from "../vendor/lit.js";
import { copyChip } from "./copy-chip.js";

export class Piece extends LitElement {
  createRenderRoot() { return this; }
  connectedCallback() {
    super.connectedCallback();
    this.ending = new AbortController();
    this.signal = this.ending.signal; // ends what the component has under way when it leaves the page
    window.addEventListener("st-zone", () => this.requestUpdate(), { signal: this.signal });
  }
  disconnectedCallback() {
    super.disconnectedCallback();
    this.ending.abort();
  }
}

// One thing that is loaded: `run` loads it, and again; an earlier value stays in view while a later one is on its way.
export class Load {
  constructor(host, step) {
    Object.assign(this, { host, step, value: undefined, error: null, since: 0, busy: false, turn: 0 });
  }
  get state() { return this.value !== undefined ? (this.error ? "stale" : "ready") : this.error ? "error" : "loading"; }
  async run(...words) {
    const turn = ++this.turn;
    this.busy = true;
    this.host.requestUpdate();
    try {
      const value = await this.step(...words);
      if (turn !== this.turn) return this.value;
      Object.assign(this, { value, error: null, since: Date.now(), busy: false });
    } catch (error) {
      if (error.name === "AbortError" || turn !== this.turn) return this.value;
      Object.assign(this, { error, busy: false });
    }
    this.host.requestUpdate();
    return this.value;
  }
  // Another thing is wanted: what is in view is not it.
  clear() { Object.assign(this, { value: undefined, error: null, turn: this.turn + 1 }); }
  set(value) { Object.assign(this, { value, error: null, since: Date.now() }); this.host.requestUpdate(); }
}

// The four states of a panel. `ready(value)` draws it; `isEmpty(value)` and `empty` are for one with nothing in it.
export function panel(load, ready, { isEmpty = () => false, empty = nothing, lines = 4 } = {}) {
  if (load.state === "loading") return skeleton(lines);
  if (load.state === "error") return problem(load.error, () => load.run());
  return html`${load.state === "stale" ? stale(load) : nothing}${isEmpty(load.value) ? empty : ready(load.value)}`;
}
export const skeleton = (lines = 4) => html`<div class="skeleton" role="status" aria-label="Loading">${Array.from({ length: lines }, (_, n) => html`<i class="w${n % 3}"></i>`)}</div>`;
export const empty = (sentence, action = nothing) => html`<div class="empty"><p>${sentence}</p>${action}</div>`;
export const stale = (load) => html`<p class="stale" role="status">Paused: ${load.error.message} <button class="link" @click=${() => load.run()}>Reconnect</button></p>`;
export function problem(error, again) {
  return html`<div class="problem" role="alert"><p><strong>${error.message}</strong></p>
    ${(error.detail || []).slice(0, 10).map((one) => html`<p>${one.loc.filter((part) => part !== "body").join(".")}: ${one.msg}</p>`)}
    <p class="row">${error.code ? html`<code>${error.code}</code>` : nothing}${error.requestId ? copyChip(error.requestId, "request") : nothing}
    ${again ? html`<button class="btn small" @click=${again}>Try again</button>` : nothing}</p></div>`;
}
// Style properties of an element, set by script: <i ${styled({ top: "4px" })}>. A style attribute would be refused by the policy.
export const styled = (properties) => ref((node) => { if (node) for (const [name, value] of Object.entries(properties)) node.style.setProperty(name, value); });
// What every page needs besides, so that it has one import for it.
export { html, live, nothing, render, repeat, svg };
export { copy, copyButton, copyChip } from "./copy-chip.js";
export { avatar, counted, dot, icon, initials, kindOf, meter, method, pill, seats, state, words } from "./marks.js";
export { go, href, withQuery } from "./route.js";
export { failed, toast } from "./toast.js";
