// <st-list>: rows by cursor, newest first. Properties: `load(cursor)` a page of the API, `row(item)` its template, `to(item)` its address,
// `keyOf(item)`, `selected` a key, `group(item)` a separator's text, `label`, `none` for the empty state.
// Methods: reload(), prepend(items), change(item). Arrow keys move, and take the selection along while a pane is open.
import { empty, go, html, nothing, Piece, problem, repeat, skeleton, stale } from "./element.js";

const MOST = 400; // a page that is left open does not grow for ever

export class DataList extends Piece {
  static properties = { items: { state: true }, error: { state: true }, busy: { state: true }, selected: {}, label: {}, none: {}, row: {}, fresh: { state: true } };
  constructor() {
    super();
    Object.assign(this, { items: null, error: null, busy: false, cursor: null, turn: 0, fresh: new Set(), keyOf: (item) => item.id, group: null, to: null });
  }
  connectedCallback() {
    super.connectedCallback();
    this.sight = new IntersectionObserver((seen) => { if (seen.some((one) => one.isIntersecting)) this.more(); }, { rootMargin: "400px" });
    if (this.load) this.reload();
  }
  disconnectedCallback() { super.disconnectedCallback(); this.sight.disconnect(); }
  updated() {
    this.sight.disconnect();
    const end = this.querySelector(".more");
    if (end) this.sight.observe(end);
  }
  // Reads the first page. With `quiet`, what is shown stays until it is there.
  async reload({ quiet = false } = {}) {
    const turn = ++this.turn;
    if (!quiet) this.items = null;
    try {
      const page = await this.load(undefined);
      if (turn !== this.turn) return;
      Object.assign(this, { items: page.data, cursor: page.next_cursor, error: null, busy: false });
    } catch (error) { if (error.name !== "AbortError" && turn === this.turn) Object.assign(this, { error, busy: false }); }
    await this.updateComplete;
    this.dispatchEvent(new CustomEvent("loaded", { bubbles: true }));
  }
  async more() {
    if (this.busy || !this.cursor) return;
    this.busy = true;
    const turn = this.turn;
    try {
      const page = await this.load(this.cursor);
      if (turn !== this.turn) return;
      const known = new Set(this.items.map(this.keyOf));
      Object.assign(this, { items: [...this.items, ...page.data.filter((item) => !known.has(this.keyOf(item)))], cursor: page.next_cursor, error: null });
    } catch (error) { if (error.name !== "AbortError") this.error = error; }
    this.busy = false;
  }
  // New rows on top. A row that is known already is replaced. Returns whether there was anything new.
  prepend(items) {
    if (!this.items) return false;
    const known = new Map(this.items.map((item) => [this.keyOf(item), item]));
    const added = items.filter((item) => !known.has(this.keyOf(item)));
    for (const item of items) if (known.has(this.keyOf(item))) this.change(item);
    if (!added.length) return false;
    this.fresh = new Set(added.map(this.keyOf));
    this.items = [...added, ...this.items];
    if (this.items.length > MOST && this.scrollTop < 200) { this.items = this.items.slice(0, MOST); this.cursor = null; }
    return true;
  }
  change(item) {
    const key = this.keyOf(item);
    this.items = (this.items || []).map((one) => (this.keyOf(one) === key ? { ...one, ...item } : one));
  }
  onKey(event) {
    const step = { ArrowDown: 1, ArrowUp: -1, j: 1, k: -1 }[event.key];
    if (!step || event.target.closest("input, select, textarea")) return;
    event.preventDefault();
    const rows = [...this.querySelectorAll("a.item")];
    const here = rows.indexOf(document.activeElement.closest?.("a.item"));
    const next = rows[Math.max(0, Math.min(rows.length - 1, here + step))];
    if (!next) return;
    next.focus();
    if (this.selected) go(next.getAttribute("href"), { replace: true });
  }
  opened() { setTimeout(() => document.querySelector(".pane")?.focus({ preventScroll: true }), 60); }
  render() {
    if (this.items === null) return this.error ? problem(this.error, () => this.reload()) : skeleton(8);
    if (!this.items.length) return this.none || empty("Nothing here yet.");
    let group = null;
    const rows = repeat(this.items, this.keyOf, (item) => {
      const name = this.group ? this.group(item) : null;
      const head = name !== group ? html`<li class="group">${(group = name)}</li>` : nothing;
      const key = this.keyOf(item);
      return html`${head}<li class=${this.fresh.has(key) ? "fresh" : ""}><a class="item" href=${this.to ? this.to(item) : "#"} aria-current=${key === this.selected ? "true" : nothing} @click=${this.opened}>${this.row(item)}</a></li>`;
    });
    return html`${this.error ? stale({ error: this.error, run: () => this.reload({ quiet: true }) }) : nothing}
      <ul class="list" aria-label=${this.label || "Rows"} @keydown=${this.onKey}>${rows}</ul>
      ${this.cursor ? html`<p class="more"><button class="btn small" @click=${this.more} ?disabled=${this.busy}>${this.busy ? "Loading…" : "Show more"}</button></p>` : nothing}`;
  }
}
customElements.define("st-list", DataList);
