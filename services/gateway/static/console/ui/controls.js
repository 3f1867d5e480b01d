// What is pressed and filled in: chips, choices, fields, menus; and dialogs and sheets. openDialog(title, (dialog) => template, { sheet })
// draws again on dialog.redraw(); dialog.close() ends it.
import { html, icon, live, nothing, problem, render } from "./element.js";

// Chips with counts, a select, a search box. A choice is told by `pick(value)`.
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

export function openDialog(title, body, { sheet = false, wide = false, modal = true, onclose = () => {} } = {}) {
  const dialog = document.createElement("dialog");
  dialog.className = `${sheet ? "sheet" : "modal"} ${wide ? "wide" : ""}`;
  dialog.setAttribute("aria-label", title);
  dialog.redraw = () => {
    render(html`<header><h2>${title}</h2><button type="button" class="icon-btn" aria-label="Close" @click=${() => dialog.close()}>${icon("close")}</button></header><div class="dialog-body">${body(dialog)}</div>`, dialog);
    dialog.closedBy = dialog.querySelector(".secret") ? "none" : "closerequest";
  };
  dialog.addEventListener("close", () => { dialog.remove(); onclose(); });
  // A secret is shown only once: it stays until a button closes it. A drag that began inside closes nothing.
  dialog.addEventListener("pointerdown", (event) => { if (event.target === dialog && !dialog.querySelector(".secret")) dialog.close(); });
  dialog.addEventListener("cancel", (event) => { if (dialog.querySelector(".secret")) event.preventDefault(); });
  document.body.append(dialog);
  dialog.redraw();
  if (modal) dialog.showModal(); else { Object.assign(dialog, { popover: "auto", ontoggle: ({ newState }) => { if (newState === "closed") dialog.close(); } }).showPopover(); dialog.open = true; }
  (dialog.querySelector("[data-first]") || dialog.querySelector(".dialog-body input, .dialog-body button"))?.focus();
  return dialog;
}
// A dialog with a form. `send(elements)` does what it is for, and returns what to do once the dialog is closed; a refusal is shown under
// the fields. `verb` and `ready` are asked at each redraw.
export function openForm(title, fields, { send, verb, ready = () => true, cancel = false, ...options }) {
  let error = null, busy = false;
  const submit = async (event) => {
    event.preventDefault();
    busy = true; error = null; dialog.redraw();
    try {
      const then = await send(event.target.elements);
      dialog.close();
      then?.();
    } catch (refused) { error = refused; busy = false; dialog.redraw(); }
  };
  const dialog = openDialog(title, (box) => html`<form class="stack" @submit=${submit}>${fields(box)}${error ? problem(error) : nothing}
    <p class="row end">${cancel ? html`<button type="button" class="btn" @click=${() => box.close()}>Cancel</button>` : nothing}
      <button class="btn main" ?disabled=${busy || !ready()}>${busy && cancel ? "Saving…" : verb()}</button></p></form>`, options);
  return dialog;
}
// Asks before something is destroyed, and says what will happen. Resolves to true or false. `typed` must be typed first.
export function confirm(title, text, verb, { danger = true, typed = null } = {}) {
  return new Promise((resolve) => {
    let yes = false, said = "";
    const dialog = openDialog(title, () => html`<form @submit=${(event) => { event.preventDefault(); yes = true; dialog.close(); }}><p>${text}</p>
      ${typed ? html`<label class="field"><span>Type ${typed} to go on</span><input data-first .value=${said} @input=${(event) => { said = event.target.value; dialog.redraw(); }}></label>` : ""}
      <p class="row end"><button type="button" class="btn" ?data-first=${!typed} @click=${() => dialog.close()}>${danger ? "Keep it" : "Cancel"}</button><button class="btn ${danger ? "danger" : "main"}" ?disabled=${typed && said !== typed}>${verb}</button></p></form>`, { onclose: () => resolve(yes) });
  });
}
// A kebab: [[text, act, danger], …]
export const menu = (label, acts) => html`<details class="menu" @focusout=${(event) => { if (!event.currentTarget.contains(event.relatedTarget)) event.currentTarget.open = false; }} @keydown=${(event) => { if (event.key === "Escape") { event.stopPropagation(); event.currentTarget.open = false; event.currentTarget.firstElementChild.focus(); } }}>
  <summary class="icon-btn" aria-label=${label} title=${label}>${icon("more")}</summary><div class="menu-items">${acts.filter(Boolean).map(([text, act, danger]) => html`<button type="button" class=${danger ? "danger" : ""} @click=${(event) => { const box = event.currentTarget.closest("details"); box.open = false; box.firstElementChild.focus(); act(); }}>${text}</button>`)}</div></details>`;
