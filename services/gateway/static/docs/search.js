// Finds what is inside the operations: error codes, statuses, fields and the values that they may have.
// A result's address names its place: #create_booking/error/class_full, #get_class/answer/capacity.
import { answerOf, errorsOf, isCommon, media } from "./answers.js";
import { $, h } from "./dom.js";
import { childrenOf, choicesOf, resolve } from "./schema.js";

const MOST = 40;
const DEEPEST = 4;
// What people type for a chapter, beside its title.
const ALSO = {
  authentication: "key header x-service-key scopes 401",
  pagination: "page through pages cursor next_cursor has_more list",
  idempotency: "idempotency-key twice repeat retry replay",
  limits: "429 too many requests retry-after throttle zone utc",
  flows: "hold pay payment confirm move reschedule",
  mirroring: "mirror sync copy follow poll long polling",
  "Verify, then answer": "signature sign hmac verification webhook-signature receiver",
  "Gaps and catching up": "missed events recover recovery sequence",
  "When we stop sending": "retries schedule disabled breaker backoff",
};
const PLACES = { path: "path", query: "query", header: "header", body: "body", answer: "answer" };

// One entry: the name that is found, what stands below it, and the address.
function entry(kind, name, about, ...address) {
  const also = kind === "Guide" ? ` ${ALSO[name] || ALSO[address[0]] || ""}` : "";
  return { kind, name, about, address: address.map(encodeURIComponent).join("/"), text: `${name} ${about}${also}`.toLowerCase() };
}

export function contents(operations, guides) {
  const found = new Map();
  const add = (one) => { if (!found.has(`${one.kind} ${one.name} ${one.about}`)) found.set(`${one.kind} ${one.name} ${one.about}`, one); };
  for (const chapter of guides ? document.querySelectorAll(".guide[id]") : []) add(entry("Guide", chapter.querySelector("h2").textContent, "Guide", chapter.id));
  for (const { sections } of Object.values(guides || {})) {
    for (const { id, title } of sections) add(entry("Guide", title, $(id).closest(".guide").querySelector("h2").textContent, id));
  }
  for (const [, , op] of operations) {
    for (const row of errorsOf(op)) {
      const everywhere = isCommon(row) && $("all-codes");
      const about = everywhere ? "every operation" : op.summary;
      const address = everywhere ? ["errors", "error", row.code] : [op.operationId, "error", row.code];
      add(entry("Errors", row.code, `${row.status} · ${about}`, ...address));
      add(entry("Statuses", row.status, `${row.code} · ${about}`, ...address));
    }
    for (const status of Object.keys(op.responses)) {
      if (status < "400") add(entry("Statuses", status, op.summary, op.operationId, "answer"));
    }
    for (const one of op.parameters.map(resolve)) addField(add, op, [PLACES[one.in], one.name], one.schema);
    const body = media(op.requestBody);
    if (body) addFields(add, op, ["body"], resolve(body.schema));
    const answer = answerOf(op);
    if (answer) addFields(add, op, ["answer"], childrenOf(answer.item || answer.schema));
  }
  return [...found.values()];
}
function addFields(add, op, trail, schema) {
  if (!schema || !schema.properties || trail.length > DEEPEST) return;
  for (const [name, inner] of Object.entries(schema.properties)) {
    addField(add, op, [...trail, name], inner);
    addFields(add, op, [...trail, name], childrenOf(inner));
  }
}
function addField(add, op, [place, ...names], schema) {
  const about = `${place} · ${op.summary}`;
  add(entry("Fields", names.at(-1), about, op.operationId, place, ...names));
  for (const value of choicesOf(schema)) add(entry("Values", String(value), `${names.at(-1)} · ${about}`, op.operationId, place, ...names));
}

// Guides come first, then exact names, then those that begin with what was typed.
export function find(entries, words) {
  if (!words.length) return [];
  const typed = words.join(" ");
  const rank = (one) => (one.kind === "Guide" ? -1 : one.name.toLowerCase() === typed ? 0 : one.name.toLowerCase().startsWith(words[0]) ? 1 : 2);
  const named = (one) => one.kind === "Guide" || words.some((word) => one.name.toLowerCase().includes(word));
  return entries.filter((one) => named(one) && words.every((word) => one.text.includes(word)))
    .map((one, at) => [rank(one), at, one]).sort((a, b) => a[0] - b[0] || a[1] - b[1]).map(([, , one]) => one);
}

export function results(found) {
  const shown = found.slice(0, MOST);
  const nodes = [];
  for (const kind of ["Guide", "Errors", "Statuses", "Fields", "Values"]) {
    const some = shown.filter((one) => one.kind === kind);
    if (some.length) nodes.push(h("h2", {}, kind), ...some.map(result));
  }
  if (found.length > shown.length) nodes.push(h("p", { class: "none" }, `${found.length - shown.length} more: type more of it, or the operation's name.`));
  return nodes;
}
const result = (one) => h("a", { class: "hit", href: `#${one.address}` }, h("code", {}, one.name), h("small", {}, one.about));

// ---- the way to a place -----------------------------------------------------------------------------------
let marked = null;

export function jump(address) {
  const [id, place, ...names] = address.split("/").map(decodeURIComponent);
  const card = $(id);
  if (!card) return;
  if (marked) marked.classList.remove("found");
  marked = null;
  const target = place ? within(card, place, names) : null;
  if (card.tagName === "DETAILS") card.open = true;
  if (!target) return card.scrollIntoView({ block: "start" });
  for (let box = target.closest("details"); box; box = box.parentElement.closest("details")) box.open = true;
  marked = target;
  target.classList.add("found");
  target.setAttribute("tabindex", "-1");
  target.focus({ preventScroll: true });
  target.scrollIntoView({ block: "center" });
}
function within(card, place, names) {
  if (place === "error") return card.querySelector(`[data-code="${CSS.escape(names[0])}"]`);
  for (const box of card.querySelectorAll(`[data-place="${CSS.escape(place)}"]`)) {
    const found = names.reduce((at, name) => at && below(at, name), box.querySelector(":scope > .field") || box);
    if (found) return found;
  }
  return null;
}
// The field of this name right below another one; its list may not have been drawn yet.
function below(at, name) {
  for (const box of at.querySelectorAll("details.more")) if (owner(box) === at) box.dispatchEvent(new Event("fill"));
  return [...at.querySelectorAll(`.field[data-field="${CSS.escape(name)}"]`)].find((one) => owner(one) === at);
}
const owner = (node) => node.parentElement.closest(".field, [data-place]");
