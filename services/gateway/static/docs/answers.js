// What an operation answers: its examples and its errors.
import { bar, h, inline, json } from "./dom.js";
import { resolve } from "./schema.js";

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
    h("thead", {}, h("tr", {}, ["Status", "Code", "Meaning"].map((name) => h("th", { scope: "col" }, name)))),
    h("tbody", {}, rows.map((row) => h("tr", { "data-code": row.code },
      h("td", {}, row.status), h("td", {}, h("code", {}, row.code)), h("td", {}, inline(row.message)))))));
}
const COMMON = new Set(["400:unsupported_api_version", "401:", "403:", "413:", "415:", "429:", "500:", "503:", "504:"]);
export const isCommon = (row) => COMMON.has(`${row.status}:`) || COMMON.has(`${row.status}:${row.code}`);

// One example serves every operation in the document; here it may as well name the scope of this one.
function forScope(value, scope) {
  const wanted = value.error.details.required_scope;
  return wanted && scope ? JSON.parse(JSON.stringify(value).replaceAll(wanted, scope)) : value;
}
export function answers(op) {
  const status = goodStatus(op);
  const answer = resolve(op.responses[status]);
  const content = media(answer);
  const known = [];
  if (content && content.example !== undefined) known.push({ name: `${status} ${String(answer.description).replace(/\.$/, "")}`, value: content.example });
  for (const row of errorsOf(op)) known.push({ name: `${row.status} ${row.code}`, value: forScope(row.value, op["x-required-scope"]) });
  const place = h("div", {});
  const choose = h("select", { "aria-label": "Example answer" }, known.map((one, index) => h("option", { value: index }, one.name)));
  const show = () => place.replaceChildren(json(known[choose.value].value));
  choose.addEventListener("change", show);
  if (known.length) show();
  const empty = content ? null : h("pre", {}, `${status}: no body`);
  return [bar("Answer", known.length ? choose : null), empty, place];
}
