// A form for each operation. The key lives in this variable only: not in storage, an address or a log, and it is
// gone with the page.
import { bar, h, inline, json } from "./dom.js";
import { baseUrl } from "./samples.js";
import { api, resolve } from "./schema.js";

let key = "";
const SHOWN = ["x-request-id", "etag", "idempotent-replayed", "retry-after", "ratelimit-limit", "ratelimit-remaining", "ratelimit-reset"];
const forPartners = () => Boolean(api.components.securitySchemes.ServiceKey);

export function tryIt(op, path, method) {
  const box = h("details", { class: "more try" }, h("summary", {}, "Try it"));
  box.addEventListener("toggle", () => {
    if (box.children.length === 1) box.append(form(op, path, method));
    box.querySelector(".key").value = key;
  });
  return box;
}

function form(op, path, method) {
  const parameters = op.parameters.map(resolve).filter((one) => one.in !== "header" || one.required);
  const inputs = parameters.map((one) => ({ ...one, input: parameterInput(one) }));
  const content = bodyOf(op);
  const body = content && h("textarea", { rows: 8, spellcheck: "false", autocomplete: "off" });
  if (body) body.value = typeof content.example === "string" ? content.example : JSON.stringify(content.example, null, 2) || "";
  const keyInput = h("input", { class: "key", type: "text", autocomplete: "off", spellcheck: "false", autocapitalize: "off" });
  keyInput.addEventListener("input", () => { key = keyInput.value.trim(); });
  const result = h("div", { role: "status", class: "result" });
  const send = h("button", { class: "ghost send", type: "button" }, `Send ${method.toUpperCase()}`);
  send.addEventListener("click", async () => {
    const missing = inputs.find((one) => one.required && !one.input.value.trim());
    if (missing) return result.replaceChildren(h("p", {}, inline(`\`${missing.name}\` is missing.`)));
    send.disabled = true;
    result.replaceChildren(h("p", {}, "Sending…"));
    result.replaceChildren(...await call(method, address(path, inputs), headersOf(inputs, content), body ? body.value : ""));
    send.disabled = false;
  });
  return h("div", { class: "form" },
    labelled(forPartners() ? "X-Service-Key" : "Token", keyInput, "Kept in this page's memory and nowhere else."),
    inputs.map((one) => labelled(one.name, one.input, one.required ? null : "optional")),
    body ? labelled("Body", body, null) : null, send, result);
}
const labelled = (name, input, about) => h("label", {}, h("span", {}, name, about ? h("small", {}, ` ${about}`) : null), input);

function parameterInput({ name, in: place, example }) {
  const input = h("input", { type: "text", autocomplete: "off", spellcheck: "false" });
  if (place === "path" && example !== undefined) input.value = example;
  if (name === "Idempotency-Key") input.value = `try-${[...crypto.getRandomValues(new Uint32Array(4))].map((one) => one.toString(36)).join("")}`;
  return input;
}
function bodyOf(op) {
  const sent = op.requestBody && op.requestBody.content;
  if (!sent) return null;
  const type = Object.keys(sent)[0];
  return { type, example: sent[type].example };
}

function address(path, inputs) {
  const query = new URLSearchParams();
  for (const { name, in: place, input } of inputs) {
    const value = input.value.trim();
    if (place === "path") path = path.replace(`{${name}}`, encodeURIComponent(value));
    if (place === "query" && value) query.append(name, value);
  }
  return baseUrl() + path + (query.size ? `?${query}` : "");
}
function headersOf(inputs, content) {
  const headers = new Headers(forPartners() ? { "X-Service-Key": key } : { Authorization: `Bearer ${key}` });
  if (content) headers.set("Content-Type", content.type);
  for (const { name, in: place, input } of inputs) if (place === "header") headers.set(name, input.value.trim());
  return headers;
}

async function call(method, url, headers, body) {
  let answer, text;
  const began = performance.now();
  try {
    answer = await fetch(url, { method: method.toUpperCase(), headers, body: body.trim() ? body : undefined, credentials: "omit", cache: "no-store", redirect: "error" });
    text = await answer.text();
  } catch (problem) {
    return [h("p", {}, `There was no answer: ${problem.message}`)];
  }
  const took = `${Math.round(performance.now() - began)} ms`;
  const told = SHOWN.filter((name) => answer.headers.has(name)).map((name) => `${name}: ${answer.headers.get(name)}`);
  return [h("div", { class: "block" }, bar(`${answer.status} ${answer.statusText}`, h("span", {}, took)),
    h("pre", { class: "headers", tabindex: "0" }, told.join("\n")), shown(text))];
}
function shown(text) {
  if (!text) return h("pre", {}, "No body");
  try { return json(JSON.parse(text)); } catch { return h("pre", { tabindex: "0" }, text); }
}
