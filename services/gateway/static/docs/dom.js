// Builds the page.
export const $ = (id) => document.getElementById(id);

// Everything that comes from the document enters the page as text nodes; nothing is ever parsed as HTML.
export function h(tag, props, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(props || {})) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else node.setAttribute(name, value === true ? "" : String(value));
  }
  for (const child of children.flat()) {
    if (child !== null && child !== undefined && child !== "") node.append(child);
  }
  return node;
}

// Paragraphs, `code`, **bold**, *emphasis* and [links](#errors) are all the markup that descriptions and guides use.
const LINK = /^\[([^\]]+)\]\(([^)]*)\)$/;
export function inline(text) {
  return text.split(/(`[^`]+`|\*\*[^*]+\*\*|\*[^*\s][^*]*\*|\[[^\]]+\]\([^)]*\))/).map((part) => {
    const link = LINK.exec(part);
    if (link) return /^(#|https:)/.test(link[2]) ? h("a", { href: link[2], rel: "noreferrer" }, inline(link[1])) : h("span", {}, inline(link[1]));
    if (part.startsWith("`") && part.length > 2) return h("code", {}, part.slice(1, -1));
    if (part.startsWith("**") && part.length > 4) return h("strong", {}, part.slice(2, -2));
    if (part.startsWith("*") && part.length > 2) return h("em", {}, part.slice(1, -1));
    return part;
  });
}
export const prose = (text) =>
  h("div", { class: "prose" }, String(text || "").split(/\n{2,}/).filter(Boolean).map((part) => h("p", {}, inline(part))));

export function json(value) {
  const text = JSON.stringify(value, null, 2);
  const token = /("(?:\\.|[^"\\])*")(\s*:)?|\b(true|false|null)\b|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g;
  const parts = [];
  let last = 0;
  for (const found of text.matchAll(token)) {
    parts.push(text.slice(last, found.index));
    const kind = found[2] ? "k" : found[1] ? "s" : found[3] ? "l" : "n";
    parts.push(h("span", { class: kind }, found[1] || found[0]));
    if (found[2]) parts.push(found[2]);
    last = found.index + found[0].length;
  }
  parts.push(text.slice(last));
  return h("pre", { tabindex: "0" }, parts);
}

export function copyButton(text, label) {
  const button = h("button", { class: "copy", type: "button", "aria-label": label }, "Copy");
  button.addEventListener("click", async () => {
    let done = true;
    try { await navigator.clipboard.writeText(text()); } catch { done = copyBySelection(text()); }
    button.textContent = done ? "Copied" : "Press Ctrl+C";
    setTimeout(() => { button.textContent = "Copy"; }, 1600);
  });
  return button;
}
// Without https there is no clipboard API.
function copyBySelection(text) {
  const area = h("textarea", { class: "unseen", "aria-hidden": "true" });
  area.value = text;
  document.body.append(area);
  area.select();
  const done = document.execCommand("copy");
  area.remove();
  return done;
}
export const bar = (title, ...rest) => h("div", { class: "bar" }, h("span", {}, title), ...rest);
