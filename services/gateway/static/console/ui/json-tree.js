// <st-json .value=${object}>: folds, copies the path of a value by its name, copies all. Long texts wrap.
import { copy, html, nothing, Piece } from "./element.js";

const leaf = (value) => html`<span class="j-${value === null ? "lit" : { string: "str", number: "num" }[typeof value] || "lit"}">${JSON.stringify(value)}</span>`;
class JsonTree extends Piece {
  static properties = { value: {}, depth: { type: Number }, label: {} };
  constructor() { super(); this.depth = 3; }
  node(name, value, path, level) {
    const key = name === null ? nothing : html`<button type="button" class="j-key" title="Copy ${path}" @click=${(event) => { event.preventDefault(); copy(path, `Copied ${path}`); }}>${name}</button>`;
    if (value === null || typeof value !== "object") return html`<div class="j-row">${key} ${leaf(value)}</div>`;
    const list = Array.isArray(value), entries = Object.entries(value);
    if (!entries.length) return html`<div class="j-row">${key} <span class="j-lit">${list ? "[]" : "{}"}</span></div>`;
    const inner = entries.map(([one, held]) => this.node(list ? `[${one}]` : one, held, `${path}${list ? `[${one}]` : `${path ? "." : ""}${one}`}`, level + 1));
    if (name === null) return inner;
    return html`<details ?open=${level < this.depth}><summary>${name} <span class="j-lit">${list ? `[${entries.length}]` : `{${entries.length}}`}</span></summary><div class="j-in">${inner}</div></details>`;
  }
  render() {
    const simple = this.value === null || typeof this.value !== "object";
    return html`<div class="json" role="group" aria-label=${this.label || "JSON"}><button type="button" class="json-copy" @click=${() => copy(JSON.stringify(this.value, null, 2))}>Copy</button>
      ${simple ? html`<div class="j-row">${leaf(this.value)}</div>` : this.node(null, this.value, "", 0)}</div>`;
  }
}
customElements.define("st-json", JsonTree);
