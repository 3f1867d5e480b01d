// What an operation answers: its examples and its errors.
import { bar, h, inline, json } from "./dom.js";
import { resolve } from "./schema.js";
import { whatToDo } from "./what_to_do.js";

export const media = (thing) => (thing && thing.content && thing.content["application/json"]) || null;

export const goodStatus = (op) => Object.keys(op.responses).find((status) => status.startsWith("2"));

// What a good answer holds; `item` where it is a page of a list.
export function answerOf(op) {
  const content = media(resolve(op.responses[goodStatus(op)]));
  if (!content) return null;
  const { properties } = resolve(content.schema);
  return { schema: content.schema, item: properties && properties.has_more ? properties.data.items : null };
}

export function errorsOf(op) {
  const rows = [];
  for (const [status, response] of Object.entries(op.responses)) {
    if (!/^[45]\d\d$/.test(status)) continue;
    const whole = resolve(response);
    const named = Object.entries((media(whole) || {}).examples || {});
    for (const [code, { value }] of named) {
      rows.push({ status, code, value, message: status === "403" || status === "422" ? whole.description : value.error.message });
    }
  }
  return rows;
}
export function errorTable(rows) {
  return h("div", { class: "scroll", tabindex: "0", role: "group", "aria-label": "Errors" }, h("table", {},
    h("thead", {}, h("tr", {}, ["Status", "Code", "Meaning", "What to do"].map((name) => h("th", { scope: "col" }, name)))),
    h("tbody", {}, rows.map((row) => h("tr", { "data-code": row.code },
      h("td", {}, row.status), h("td", {}, h("code", {}, row.code)), h("td", {}, inline(row.message)), h("td", {}, inline(whatToDo(row.status, row.code))))))));
}
const COMMON = new Set(["400:unsupported_api_version", "401:", "403:", "413:", "415:", "429:", "500:", "503:", "504:"]);
export const isCommon = (row) => COMMON.has(`${row.status}:`) || COMMON.has(`${row.status}:${row.code}`);

// One example serves every operation in the document; here it may as well name the scope of this one.
function forScope(value, scope) {
  const wanted = value.error.details.required_scope;
  return wanted && scope ? JSON.parse(JSON.stringify(value).replaceAll(wanted, scope)) : value;
}
// Tabs by status; where a status has several codes, they stand below it.
export function answers(op) {
  const status = goodStatus(op);
  const answer = resolve(op.responses[status]);
  const content = media(answer);
  const known = [];
  if (content && content.example !== undefined) known.push({ status, code: String(answer.description).replace(/\.$/, ""), value: content.example });
  for (const row of errorsOf(op)) known.push({ status: row.status, code: row.code, value: forScope(row.value, op["x-required-scope"]) });
  const place = h("div", {}), codes = h("div", { class: "tabs codes", role: "group", "aria-label": "Example answer" });
  const tab = (text, pressed, onclick) => h("button", { type: "button", class: "tab", "aria-pressed": String(pressed), onclick }, text);
  const statuses = h("div", { class: "tabs codes", role: "group", "aria-label": "Status" });
  function show(one) {
    const same = known.filter((other) => other.status === one.status);
    statuses.replaceChildren(...[...new Set(known.map((other) => other.status))].map((name) => tab(name, name === one.status, () => again(statuses, known.find((other) => other.status === name)))));
    codes.replaceChildren(...same.map((other) => tab(other.code, other === one, () => again(codes, other))));
    place.replaceChildren(json(one.value));
  }
  // The pressed tab is drawn anew, and keeps the focus.
  function again(row, one) {
    show(one);
    row.querySelector("[aria-pressed=true]").focus();
  }
  if (known.length) show(known[0]);
  const empty = content ? null : h("pre", {}, `${status}: no body`);
  return [bar("Answer", known.length ? statuses : null), empty, known.length ? codes : null, place];
}
