// Filters: chips with counts, a select, a search box. A choice is told by `pick(value)`.
import { html, live, nothing } from "../vendor/lit.js";
import { icon } from "./marks.js";

export const chips = (label, options, chosen, pick) => html`<div class="chips" role="group" aria-label=${label}>${options.map(([value, text, count, kind]) => html`
  <button type="button" class="chip-btn ${kind || ""}" aria-pressed=${String(value === chosen)} @click=${() => pick(value)}>${text}${count === undefined || count === null ? nothing : html` <b>${count.toLocaleString("en")}</b>`}</button>`)}</div>`;
export const choice = (label, options, chosen, pick) => html`<select class="select" aria-label=${label} .value=${live(chosen)} @change=${(event) => pick(event.target.value)}>
  ${options.map(([value, text]) => html`<option value=${value} ?selected=${value === chosen}>${text}</option>`)}</select>`;
// `/` puts the cursor here. Enter picks; an emptied box picks at once.
export const search = (label, chosen, pick, { each = false } = {}) => html`<label class="search"><span class="gone">${label}</span>${icon("search")}<input type="search" data-search placeholder=${label} .value=${live(chosen || "")} autocomplete="off" spellcheck="false"
  @input=${(event) => { if (each || !event.target.value) pick(event.target.value.trim()); }} @change=${(event) => pick(event.target.value.trim())}></label>`;
// A label and its control; `hint` and `problem` are tied to it.
let fields = 0;
export function field(label, control, { hint = nothing, wrong = nothing } = {}) {
  const id = `hint-${(fields = (fields + 1) % 1000)}`;
  return html`<div class="field"><label><span>${label}</span>${control}</label>${hint === nothing && wrong === nothing ? nothing : html`<small id=${id} class=${wrong !== nothing ? "wrong" : ""}>${wrong !== nothing ? wrong : hint}</small>`}</div>`;
}
export const toggle = (label, on, flip, { disabled = false } = {}) => html`<button type="button" role="switch" class="switch" aria-checked=${String(on)} aria-label=${label} title=${label} ?disabled=${disabled} @click=${() => flip(!on)}><i></i></button>`;
