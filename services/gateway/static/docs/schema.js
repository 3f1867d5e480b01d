// The OpenAPI document, and schemas as lists of fields.
import { h, inline } from "./dom.js";

export let api = null;
export const METHODS = ["get", "post", "put", "patch", "delete"];
export function useDocument(read) { api = read; }
export function resolve(thing) {
  for (let hops = 0; thing && thing.$ref && hops < 20; hops += 1) {
    const found = thing.$ref.split("/").slice(1).reduce((at, key) => (at === undefined ? at : at[key]), api);
    thing = found === undefined ? {} : { ...found, ...without(thing, "$ref") };
  }
  return thing || {};
}
const without = (object, key) => Object.fromEntries(Object.entries(object).filter(([name]) => name !== key));
const refName = (schema) => (schema.$ref ? schema.$ref.split("/").pop() : null);

function variants(schema) {
  const whole = resolve(schema);
  const all = whole.anyOf || whole.oneOf;
  if (!all) return { nullable: false, choices: [schema] };
  const nullish = (choice) => choice.type === "null";
  return { nullable: all.some(nullish), choices: all.filter((choice) => !nullish(choice)) };
}
export function kindOf(schema) {
  const { nullable, choices } = variants(schema);
  const names = choices.map((choice) => {
    const whole = resolve(choice);
    if (whole.type === "array") return whole.items ? `array of ${kindOf(whole.items)}` : "array";
    if (whole.properties && refName(choice)) return refName(choice);
    if (Array.isArray(whole.type)) return whole.type.join(" or ");
    if (!whole.type && whole.allOf) return "object";
    return [whole.type || (whole.const !== undefined ? typeof whole.const : "any value"), whole.format && `(${whole.format})`].filter(Boolean).join(" ");
  });
  return [...new Set(names)].join(" or ") + (nullable ? " or null" : "");
}
function limitsOf(schema) {
  const said = [];
  for (const choice of variants(schema).choices) {
    const s = resolve(choice);
    if (s.minimum !== undefined || s.maximum !== undefined) said.push(range(s.minimum, s.maximum, ""));
    if (s.minLength !== undefined || s.maxLength !== undefined) said.push(range(s.minLength, s.maxLength, " characters"));
    if (s.minItems !== undefined || s.maxItems !== undefined) said.push(range(s.minItems, s.maxItems, " items"));
  }
  const fallback = resolve(schema).default;
  if (fallback !== undefined && fallback !== "" && typeof fallback !== "object") said.push(`default ${JSON.stringify(fallback)}`);
  return said;
}
const range = (low, high, unit) =>
  (low !== undefined && high !== undefined ? `${low} to ${high}` : low !== undefined ? `at least ${low}` : `at most ${high}`) + unit;
export function choicesOf(schema) {
  return variants(schema).choices.flatMap((choice) => {
    const whole = resolve(choice);
    const inner = whole.type === "array" && whole.items ? resolve(whole.items) : whole;
    return inner.enum || (inner.const !== undefined ? [inner.const] : []);
  });
}
export function childrenOf(schema) {
  for (const choice of variants(schema).choices) {
    let whole = resolve(choice);
    if (whole.type === "array" && whole.items) whole = resolve(variants(whole.items).choices[0] || {});
    if (whole.properties && Object.keys(whole.properties).length) return whole;
  }
  return null;
}
export function field(name, schema, required, extra) {
  const whole = resolve(schema);
  const choices = choicesOf(schema);
  const inner = childrenOf(schema);
  const limits = limitsOf(schema);
  const about = (extra && extra.description) || whole.description;
  return h("div", { class: "field", "data-field": name },
    h("div", { class: "field-head" },
      h("span", { class: "name" }, name),
      h("span", { class: "kind" }, [kindOf(schema), ...limits].join(" · ")),
      required ? h("span", { class: "must" }, "required") : null),
    about ? h("p", {}, inline(about)) : null,
    choices.length ? h("div", { class: "chips" }, choices.map((choice) => h("code", {}, String(choice)))) : null,
    inner ? nested(inner) : null);
}
// Drawn when it is opened: schemas may hold one another.
export function nested(schema) {
  const count = Object.keys(schema.properties).length;
  const box = h("details", { class: "more" }, h("summary", {}, `${count} field${count === 1 ? "" : "s"}`));
  const fill = () => { if (box.children.length === 1) box.append(fields(schema, true)); };
  box.addEventListener("toggle", fill);
  box.addEventListener("fill", fill);
  return box;
}
export function fields(schema, quiet) {
  const whole = resolve(schema);
  const must = whole.required || [];
  return h("div", { class: "fields" },
    Object.entries(whole.properties || {}).map(([name, inner]) => field(name, inner, !quiet && must.includes(name))));
}
