// The guide: texts, next to examples from the document.
import { errorsOf, errorTable, media } from "./answers.js";
import { $, bar, copyButton, h, inline, json } from "./dom.js";
import { baseUrl } from "./samples.js";
import { METHODS, api, resolve } from "./schema.js";

// The texts come from the pages in docs/ and from the changelog; long sections are closed at first.
function drawTexts(guides) {
  for (const [id, { intro, sections }] of Object.entries(guides)) {
    const [before, after] = ["intro", "sections"].map((part) => $(id).querySelector(`[data-${part}]`));
    if (before) before.append(...intro.map(block));
    after.append(...sections.map((one) => h("details", { class: "more text", id: one.id }, h("summary", {}, one.title), one.blocks.map(block))));
  }
}
function block(one) {
  if (one.kind === "heading") return h("h3", {}, inline(one.text));
  if (one.kind === "paragraph") return h("p", {}, inline(one.text));
  if (one.kind === "list") return h(one.ordered ? "ol" : "ul", {}, one.items.map((item) => h("li", {}, item.map((part) => (part.kind === "paragraph" ? h("span", {}, inline(part.text)) : block(part))))));
  if (one.kind === "code") return h("div", { class: "block apart" }, bar(one.language, copyButton(() => one.text, `Copy the ${one.language} text`)), h("pre", { tabindex: "0" }, one.text));
  return h("div", { class: "scroll", tabindex: "0", role: "group", "aria-label": one.head.join(", ") }, h("table", { class: "text" },
    h("thead", {}, h("tr", {}, one.head.map((cell) => h("th", { scope: "col" }, inline(cell))))),
    h("tbody", {}, one.rows.map((row) => h("tr", {}, row.map((cell) => h("td", {}, inline(cell))))))));
}

export function drawGuides(guides) {
  drawTexts(guides);
  const key = `curl "${baseUrl()}/key" \\\n  -H "X-Service-Key: $STUDIO_KEY"`;
  const own = media(resolve(((api.paths["/key"] || {}).get || { responses: { 200: {} } }).responses["200"]));
  $("auth-example").append(bar("Which key is this?", copyButton(() => key, "Copy the curl line")), h("pre", { tabindex: "0" }, key));
  if (own && own.example) $("auth-example").append(h("div", { class: "gap" }), json(own.example));
  const refused = resolve(api.components.responses.NotFound).content["application/json"].examples.not_found;
  $("error-example").append(json(refused.value));
  $("page-example").append(json({ object: "list", data: ["…"], has_more: true, next_cursor: "0b6f3c52-7a55-4d0e-9d8a-4c1c3f1f2e11" }));
  const seen = new Map();
  for (const methods of Object.values(api.paths)) {
    for (const method of METHODS) {
      if (methods[method]) for (const row of errorsOf(methods[method])) seen.set(`${row.status} ${row.code}`, row);
    }
  }
  $("all-codes").append(errorTable([...seen.keys()].sort().map((key) => seen.get(key))));
}
