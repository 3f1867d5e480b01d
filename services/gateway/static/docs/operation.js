// One operation, or one kind of event: its words on the left, its samples on the right.
import { answerOf, answers, errorsOf, errorTable, isCommon, media } from "./answers.js";
import { bar, h, inline, json, prose } from "./dom.js";
import { samples } from "./samples.js";
import { tryIt } from "./try_it.js";
import { childrenOf, field, fields, kindOf, nested, resolve } from "./schema.js";

export function card(path, method, op) {
  const verb = method.toUpperCase();
  const parameters = op.parameters.map(resolve);
  const body = media(op.requestBody);
  const good = answerOf(op);
  const rows = errorsOf(op);
  const own = rows.filter((row) => !isCommon(row));
  const common = rows.filter(isCommon);
  const sections = [];
  const listed = (some) => h("div", { class: "fields" }, some.map((one) => field(one.name, one.schema, one.required, one)));
  for (const [place, title] of [["path", "Path"], ["query", "Query"], ["header", "Headers"]]) {
    const some = parameters.filter((one) => one.in === place && (place !== "header" || one.required));
    if (some.length) sections.push(h("div", { "data-place": place }, h("h4", {}, title), listed(some)));
  }
  const optional = parameters.filter((one) => one.in === "header" && !one.required);
  if (optional.length) sections.push(h("details", { class: "more", "data-place": "header" }, h("summary", {}, "optional headers"), listed(optional)));
  if (body) sections.push(h("div", { "data-place": "body" }, h("h4", {}, "Body"), fields(body.schema)));
  if (good) {
    const item = good.item;
    const about = resolve(item || good.schema).description;
    const inner = childrenOf(item || good.schema);
    sections.push(h("div", { "data-place": "answer" }, h("h4", {}, "Answer"), h("div", { class: "field" },
      h("div", { class: "field-head" }, h("span", { class: "name" }, item ? `list of ${kindOf(item)}` : kindOf(good.schema))),
      about ? h("p", {}, inline(about)) : null, inner ? nested(inner) : null)));
  }
  if (own.length) sections.push(h("h4", {}, "Errors"), errorTable(own));
  if (common.length) {
    const more = h("details", { class: "more" }, h("summary", {}, own.length ? "errors of every operation" : "errors"), errorTable(common));
    sections.push(own.length ? more : h("div", {}, h("h4", {}, "Errors"), more));
  }
  return h("article", { class: "op", id: op.operationId, "aria-labelledby": `${op.operationId}-title` },
    h("div", { class: "words" },
      h("h3", { id: `${op.operationId}-title` }, h("a", { href: `#${op.operationId}` }, op.summary)),
      h("div", { class: "where" },
        h("span", { class: `pill ${verb}` }, verb),
        h("span", { class: "path" }, path.split(/(\{\w+\})/).map((part) => (part.startsWith("{") ? h("b", {}, part) : part))),
        h("span", { class: "scope", title: "Who may call this" }, op["x-required-scope"] || op["x-required-role"] || "any key")),
      prose(String(op.description || "").replace(/\n*(Required scope: `[^`]*`\.|Any valid key may call this\.)\s*$/, "")),
      sections, tryIt(op, path, method)),
    h("div", { class: "code" }, h("div", {},
      samples(op), answers(op))));
}

export function eventCard(kind, op) {
  const content = media(op.requestBody);
  return h("article", { class: "op", id: op.operationId, "aria-labelledby": `${op.operationId}-title` },
    h("div", { class: "words" },
      h("h3", { id: `${op.operationId}-title` }, h("a", { href: `#${op.operationId}` }, op.summary)),
      h("div", { class: "where" }, h("span", { class: "pill EVENT" }, "EVENT"), h("span", { class: "path" }, kind),
        h("span", { class: "scope", title: "The scope that the endpoint's key needs" }, op["x-required-scope"] || "no scope")),
      prose(op.description),
      h("h4", {}, "Body"),
      h("div", { class: "fields" }, field("data.object", content.schema.properties.data.properties.object, false)),
      h("details", { class: "more" }, h("summary", {}, "the envelope around it"), fields(content.schema, true)),
      h("details", { class: "more" }, h("summary", {}, "signature headers"),
        h("div", { class: "fields" }, op.parameters.map((one) => field(one.name, one.schema, false, one))))),
    h("div", { class: "code" }, h("div", {}, bar("Delivery"), json(content.example))));
}
