// Requests to copy: the document's samples with this page's origin.
import { copyButton, h } from "./dom.js";
import { api } from "./schema.js";

export const baseUrl = () => location.origin + api.servers[0].url;

function samplesOf(op) {
  const origin = new RegExp(`http://[^/]+(?=${api.servers[0].url})`, "g");
  return op["x-codeSamples"].map(({ label, source }) => ({ label, source: source.replaceAll(origin, location.origin) }));
}

// One choice for the whole page: who reads Python reads it everywhere.
const shown = [];
let chosen = "curl";
function choose(label) {
  chosen = label;
  for (const show of shown) show();
}

export function samples(op) {
  const known = samplesOf(op);
  const place = h("pre", { tabindex: "0" });
  const current = () => known.find((one) => one.label === chosen) || known[0];
  const tabs = h("div", { class: "tabs", role: "group", "aria-label": "Language" },
    known.map(({ label }) => h("button", { type: "button", class: "tab", "data-label": label, onclick: () => choose(label) }, label)));
  const show = () => {
    place.textContent = current().source;
    for (const tab of tabs.querySelectorAll("button")) tab.setAttribute("aria-pressed", String(tab.dataset.label === current().label));
  };
  shown.push(show);
  show();
  return [h("div", { class: "bar" }, tabs, copyButton(() => current().source, `Copy the sample of ${op.summary}`)), place];
}
