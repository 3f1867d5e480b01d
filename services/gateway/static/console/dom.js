// Builds the page. Everything enters as text nodes and attributes; nothing is ever parsed as HTML.
const SVG = "http://www.w3.org/2000/svg";

function fill(node, props, children) {
  for (const [name, value] of Object.entries(props || {})) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else node.setAttribute(name, value === true ? "" : String(value));
  }
  for (const child of children.flat(2)) {
    if (child !== null && child !== undefined && child !== false && child !== "") node.append(child);
  }
  return node;
}

export const h = (tag, props, ...children) => fill(document.createElement(tag), props, children);
export const svg = (tag, props, ...children) => fill(document.createElementNS(SVG, tag), props, children);

export const button = (label, onclick, props) => h("button", { type: "button", class: "act", onclick, ...props }, label);
export const badge = (text) => h("span", { class: `badge ${String(text).replace(/[^a-z0-9_]/gi, "")}` }, String(text));
export const code = (text) => h("code", {}, String(text));
export const json = (value) => h("pre", { tabindex: "0", class: "json" }, JSON.stringify(value, null, 2));

let fields = 0;
// A label and its control, tied by id.
export function field(label, control, hint) {
  fields += 1;
  control.id = `field-${fields}`;
  const note = hint && h("small", { id: `hint-${fields}` }, hint);
  if (note) control.setAttribute("aria-describedby", note.id);
  return h("div", { class: "field-row" }, h("label", { for: control.id }, label), control, note);
}

export const input = (props) => h("input", { autocomplete: "off", spellcheck: "false", ...props });
export function select(options, chosen, onchange) {
  const node = h("select", { onchange: () => onchange && onchange(node.value) });
  for (const [value, text] of options) {
    const option = h("option", { value }, text);
    option.selected = value === chosen;
    node.append(option);
  }
  return node;
}

export const facts = (pairs) =>
  h("dl", { class: "facts" }, pairs.map(([name, value]) => h("div", {}, h("dt", {}, name), h("dd", {}, value === null || value === "" ? "—" : value))));

export const section = (title, ...children) => h("section", { class: "card" }, h("h2", {}, title), ...children);

// Asks before something is destroyed, and says what will happen. Resolves to true or false.
export function ask(title, text, verb) {
  return new Promise((resolve) => {
    const dialog = h("dialog", { class: "ask", "aria-labelledby": "ask-title" },
      h("h2", { id: "ask-title" }, title), h("p", {}, text),
      h("div", { class: "row" },
        button(verb, () => { dialog.returnValue = "yes"; dialog.close("yes"); }, { class: "act danger" }),
        button("Keep it", () => dialog.close(""), { autofocus: true })));
    dialog.addEventListener("close", () => { dialog.remove(); resolve(dialog.returnValue === "yes"); });
    document.body.append(dialog);
    dialog.showModal();
  });
}
