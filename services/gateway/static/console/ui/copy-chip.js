// An id as a chip: the middle is left out, a click copies the whole. The full id is never drawn.
import { html } from "../vendor/lit.js";
import { icon } from "./marks.js";
import { toast } from "./toast.js";

export async function copy(text, told = "Copied") {
  try { await navigator.clipboard.writeText(text); toast(told); return true; } catch { toast("The browser did not allow copying.", { kind: "bad" }); return false; }
}
const short = (text) => (text.length > 14 ? `${text.slice(0, 4)}…${text.slice(-4)}` : text);

export const copyChip = (text, what = "id", shown = short(text)) =>
  html`<button type="button" class="chip" title="Copy the ${what}" aria-label="Copy the ${what} ${shown}" data-copy=${text}
    @click=${(event) => { event.preventDefault(); event.stopPropagation(); copy(text, `Copied the ${what}`); }}>${shown}${icon("copy")}</button>`;
export const copyButton = (text, label, kind = "btn") => html`<button type="button" class=${kind} @click=${() => copy(typeof text === "function" ? text() : text)}>${label}</button>`;
