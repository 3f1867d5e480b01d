// What a button did: bottom left, with Undo where it can be undone.
import { html, nothing, render } from "../vendor/lit.js";

let shown = [];
let place = null;
function draw() {
  if (!place || !place.isConnected) {
    place = Object.assign(document.createElement("div"), { className: "toasts" });
    place.setAttribute("role", "status");
    place.setAttribute("aria-live", "polite");
    document.body.append(place);
  }
  // A modal dialog covers the page; a popover is above it.
  if (place.showPopover) { place.popover = "manual"; if (place.matches(":popover-open")) place.hidePopover(); if (shown.length) place.showPopover(); }
  render(shown.map((one) => html`<div class="toast ${one.kind || ""}"><span>${one.text}</span>
    ${one.action ? html`<button type="button" @click=${() => { drop(one); one.action.run(); }}>${one.action.label}</button>` : nothing}</div>`), place);
}
function drop(one) { clearTimeout(one.timer); shown = shown.filter((other) => other !== one); draw(); }

// toast("Ivo Weber is in.", { action: { label: "Undo", run } }); a problem stays longer.
export function toast(text, { kind, action, seconds = action || kind === "bad" ? 8 : 3 } = {}) {
  const one = { text, kind, action };
  one.timer = setTimeout(() => drop(one), seconds * 1000);
  shown = [...shown.slice(-3), one];
  draw();
  return () => drop(one);
}
export const failed = (error) => { if (error.name !== "AbortError") toast(error.code && !error.offline ? `${error.message} (${error.code})` : error.message, { kind: "bad" }); };
