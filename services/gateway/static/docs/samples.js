// Requests to copy: what the document has, with this page's origin; a curl line where it has none.
import { copyButton, h } from "./dom.js";
import { goodStatus, media } from "./answers.js";
import { api, resolve } from "./schema.js";

const shell = (text) => `'${text.replaceAll("'", "'\\''")}'`;
export const baseUrl = () => location.origin + api.servers[0].url;

export function samplesOf(op, path, method) {
  const known = op["x-codeSamples"];
  if (!known) return [{ label: "curl", source: curl(op, path, method) }];
  const origin = new RegExp(`http://[^/]+(?=${api.servers[0].url})`, "g");
  return known.map(({ label, source }) => ({ label, source: source.replaceAll(origin, location.origin) }));
}

// One choice for the whole page: who reads Python reads it everywhere.
const shown = [];
let chosen = "curl";
function choose(label) {
  chosen = label;
  for (const show of shown) show();
}

export function samples(op, path, method) {
  const known = samplesOf(op, path, method);
  const place = h("pre", { tabindex: "0" });
  const current = () => known.find((one) => one.label === chosen) || known[0];
  const tabs = known.length === 1 ? h("span", {}, "Request") : h("div", { class: "tabs", role: "group", "aria-label": "Language" },
    known.map(({ label }) => h("button", { type: "button", class: "tab", "data-label": label, onclick: () => choose(label) }, label)));
  const show = () => {
    place.textContent = current().source;
    for (const tab of tabs.querySelectorAll("button")) tab.setAttribute("aria-pressed", String(tab.dataset.label === current().label));
  };
  shown.push(show);
  show();
  return [h("div", { class: "bar" }, tabs, copyButton(() => current().source, `Copy the sample of ${op.summary}`)), place];
}

function curl(op, path, method) {
  const good = resolve(op.responses[goodStatus(op)]);
  const shown = media(good) && media(good).example;
  const row = shown && Array.isArray(shown.data) ? shown.data[0] : shown;
  const names = [...path.matchAll(/\{(\w+)\}/g)].map((found) => found[1]);
  let url = path;
  names.forEach((name, index) => {
    const last = index === names.length - 1 && path.endsWith("}");
    const value = (row && row[name]) || (last && row && row.id) || name.toUpperCase();
    url = url.replace(`{${name}}`, value);
  });
  const parameters = op.parameters.map(resolve);
  const limited = parameters.some((one) => one.in === "query" && one.name === "limit");
  const lines = [`curl ${method === "get" ? "" : `-X ${method.toUpperCase()} `}"${baseUrl()}${url}${limited ? "?limit=10" : ""}"`];
  lines.push(api.components.securitySchemes.ServiceKey ? '-H "X-Service-Key: $STUDIO_KEY"' : '-H "Authorization: Bearer $STUDIO_OPERATOR_TOKEN"');
  if (parameters.some((one) => one.name === "Idempotency-Key")) lines.push('-H "Idempotency-Key: $(uuidgen)"');
  const body = media(op.requestBody);
  if (body) {
    lines.push('-H "Content-Type: application/json"');
    if (body.example !== undefined) lines.push(`-d ${shell(JSON.stringify(body.example))}`);
  }
  return lines.join(" \\\n  ");
}
