// Ctrl K: pages, actions, and any pasted id. `app.actions()` and `app.lookup(text)` give [{ text, hint, to | run }].
import { html, nothing } from "../vendor/lit.js";
import { openDialog } from "./controls.js";
import { icon } from "./marks.js";
import { go, href } from "./route.js";

export function openPalette(app, first = "") {
  let text = first, found = [], at = 0, asked = 0, busy = false;
  const fits = (entry) => text.toLowerCase().split(/\s+/).every((word) => `${entry.text} ${entry.hint || ""}`.toLowerCase().includes(word));
  const fixed = [...app.pages.map((page) => ({ text: page.title, hint: `g ${page.key}`, icon: page.icon, to: href(page.name) })), ...(app.actions ? app.actions() : [])];
  const entries = () => [...found, ...fixed.filter(fits)].slice(0, 12);
  const choose = (entry) => { if (!entry) return; dialog.close(); if (entry.run) entry.run(); else go(entry.to); };
  async function type(value) {
    text = value.trim(); at = 0; found = []; busy = Boolean(app.lookup && text.length > 2);
    const turn = ++asked;
    dialog.redraw();
    if (!busy) return;
    await new Promise((done) => setTimeout(done, 120));
    if (turn !== asked) return;
    const hits = await app.lookup(text).catch(() => []);
    if (turn === asked) { found = hits; busy = false; dialog.redraw(); }
  }
  const key = (event) => {
    const list = entries();
    if (event.key === "ArrowDown" || event.key === "ArrowUp") { event.preventDefault(); at = (at + (event.key === "ArrowDown" ? 1 : -1) + list.length) % Math.max(1, list.length); dialog.redraw(); }
    if (event.key === "Enter") { event.preventDefault(); choose(list[at]); }
    if (event.key === "Escape" || event.key === "Tab") { event.preventDefault(); event.stopPropagation(); dialog.close(); }
  };
  const dialog = openDialog("Search", () => {
    const list = entries();
    return html`<div class="palette" @mousedown=${(event) => { if (event.target.localName !== "input") event.preventDefault(); }}><label class="search">${icon("search")}<span class="gone">Paste any id, or search</span>
      <input data-first role="combobox" aria-expanded="true" aria-controls="palette-list" aria-activedescendant=${list.length ? `entry-${at}` : nothing} autocomplete="off" spellcheck="false" placeholder="Paste any id, or search" .value=${first} @input=${(event) => type(event.target.value)} @keydown=${key} @focusout=${({ target }) => { if (dialog.open && document.hasFocus()) target.focus(); }}></label>
      <ul id="palette-list" role="listbox" aria-label="Results">${list.map((entry, n) => html`<li role="option" id="entry-${n}" aria-selected=${String(n === at)} @click=${() => choose(entry)} @pointermove=${() => { if (at !== n) { at = n; dialog.redraw(); } }}>${icon(entry.icon || "right")}<span>${entry.text}</span><small>${entry.hint || ""}</small></li>`)}</ul>
      <p class="soft" role="status">${busy ? "Looking…" : list.length ? nothing : "Nothing found."}</p></div>`;
  }, { wide: true, modal: false }); // a page that turns inert is styled and painted anew: that takes longer than a key may
  dialog.classList.add("palette-dialog");
  if (first) type(first);
}
