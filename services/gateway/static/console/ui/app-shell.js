// <st-shell .app=${app}>: rail, top bar, pages by address, keys, theme and zone. app = { title, brand(), pages, api, follower?, actions?, lookup?, top?, account?, signOut, keys? }.
// A page is { name, group, title, icon, key, badge?(), render(app, route) }; `key` is its letter after `g`.
import { openDialog } from "./controls.js";
import { html, icon, nothing, Piece } from "./element.js";
import { openPalette } from "./palette.js";
import { go, href, read } from "./route.js";
import { relative, setZone, zones } from "./time.js";
import "./charts.js";
import "./data-list.js";
import "./json-tree.js";
import "./rel-time.js";

const KEYS = [["Ctrl K", "search, or open any pasted id"], ["?", "these keys"], ["/", "the page's search box"], ["↑ ↓ j k", "move in a list"], ["Enter", "open"], ["Esc", "close"], ["← →", "earlier and later, in a calendar"]];

// "America/New York"; on a phone only the city.
function zoneName() {
  const [region, ...place] = zones.current.replaceAll("_", " ").split("/");
  return place.length ? html`<span class="only-wide">${region}/</span>${place.join("/")}` : region;
}
class Shell extends Piece {
  static properties = { app: {}, route: { state: true }, open: { state: true } };
  constructor() { super(); this.route = read(); this.open = false; this.pressed = 0; }
  connectedCallback() {
    super.connectedCallback();
    const options = { signal: this.signal };
    window.addEventListener("hashchange", () => this.turn(), options);
    window.addEventListener("st-live", () => this.requestUpdate(), options);
    window.addEventListener("st-app", () => this.requestUpdate(), options);
    document.addEventListener("keydown", (event) => this.onKey(event), options);
    this.turn();
  }
  get page() { return this.app.pages.find((page) => page.name === this.route.page) || this.app.pages[0]; }
  turn() {
    const before = this.shown;
    this.route = read();
    this.open = false;
    this.shown = this.page.name;
    document.title = `${this.page.title}: ${this.app.title}`;
    if (before && before !== this.shown) this.updateComplete.then(() => this.focusPage());
  }
  // The focus goes to the page's heading as soon as there is one, unless somebody has moved it.
  async focusPage() {
    const view = this.querySelector("#view");
    view.focus({ preventScroll: true });
    for (let round = 0; round < 30 && document.activeElement === view; round += 1) {
      const head = view.querySelector("h1");
      if (head) Object.assign(head, { tabIndex: -1 }).focus({ preventScroll: true });
      else await new Promise((done) => setTimeout(done, 100));
    }
  }
  onKey(event) {
    if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === "k") { event.preventDefault(); if (!document.querySelector("dialog[open]")) openPalette(this.app); return; }
    if (event.ctrlKey || event.metaKey || event.altKey || document.querySelector("dialog[open]")) return;
    if (event.key === "Escape") {
      if (this.open) { this.open = false; return; }
      const close = document.querySelector("[data-close]"), back = document.querySelector("a.item[aria-current], a.block[aria-current]");
      if (close) { go(close.getAttribute("href")); setTimeout(() => back?.focus(), 30); } // the row that was open
      return;
    }
    if (event.target.closest?.("input, select, textarea, [contenteditable]")) return;
    if (event.key === "?") return this.showKeys();
    if (event.key === "/") { const box = document.querySelector("[data-search]"); if (box) { event.preventDefault(); box.focus(); } return; }
    if (Date.now() - this.pressed < 1500) {
      this.pressed = 0;
      const page = this.app.pages.find((one) => one.key === event.key);
      if (page) { event.preventDefault(); go(href(page.name)); if (page === this.page) this.focusPage(); }
    } else if (event.key === "g") this.pressed = Date.now();
    else if ((event.key === "ArrowDown" || event.key === "ArrowUp") && document.activeElement?.matches("#view, #view h1")) { const row = document.querySelector("a.item[aria-current], a.item"); if (row) { event.preventDefault(); row.focus(); } }
  }
  showKeys() {
    const rows = [...KEYS, ...(this.app.keys || []), ...this.app.pages.map((page) => [`g ${page.key}`, page.title])];
    openDialog("Keys", () => html`<dl class="keys">${rows.map(([key, text]) => html`<div><dt>${key.split(" ").map((one) => html`<kbd>${one}</kbd> `)}</dt><dd>${text}</dd></div>`)}</dl>`);
  }
  flipTheme() { setTheme(document.documentElement.dataset.theme === "dark" ? "light" : "dark"); this.requestUpdate(); }
  rail() {
    let group = "";
    return this.app.pages.map((page) => {
      const head = page.group && page.group !== group ? html`<h2>${page.group}</h2>` : nothing;
      group = page.group || "";
      const badge = page.badge?.();
      return html`${head}<a href=${href(page.name)} data-page=${page.name} aria-current=${page.name === this.page.name ? "page" : nothing} title="${page.title} (g ${page.key})">${icon(page.icon)}<span>${page.title}</span>${badge ? html`<b class="badge" aria-label=${badge.label}>${badge.text}</b>` : nothing}</a>`;
    });
  }
  render() {
    const { app } = this;
    const dark = document.documentElement.dataset.theme === "dark";
    const paused = app.follower && app.follower.state === "paused";
    return html`<a class="skip" href="#view" @click=${(event) => { event.preventDefault(); this.querySelector("#view").focus(); }}>Skip to the page</a>
      <header class="top">
        <button class="icon-btn only-small" aria-label="Pages" aria-expanded=${String(this.open)} aria-controls="nav" @click=${() => { this.open = !this.open; }}>${icon("menu")}</button>
        <span class="brand" id="who">${app.brand()}</span>
        ${app.top ? app.top() : nothing}
        <button class="zone" id="zone" title="All times are shown in ${zones.current}. Press for ${zones.mode === "browser" ? `the ${zones.of}'s zone` : "this browser's zone"}." @click=${() => setZone({ mode: zones.mode === "browser" ? "studio" : "browser" })}>${zoneName()}<small> ${zones.mode === "browser" ? "browser" : zones.of}</small></button>
        ${paused ? html`<span class="stale" role="status">Paused ${relative(app.follower.since)} · <button class="link" @click=${() => app.follower.again()}>reconnect</button></span>` : nothing}
        <span class="grow"></span>
        <button class="find" @click=${() => openPalette(app)} aria-label="Paste any id, or search">${icon("search")}<span>Paste any id, or search</span><kbd>Ctrl K</kbd></button>
        <a class="btn small only-wide" href="/docs" target="_blank" rel="noopener">Reference</a>
        <button class="icon-btn" id="theme" aria-label=${dark ? "Light theme" : "Dark theme"} title=${dark ? "Light theme" : "Dark theme"} @click=${this.flipTheme}>${icon(dark ? "sun" : "moon")}</button>
        ${app.account ? app.account() : nothing}
      </header>
      <div class="veil ${this.open ? "open" : ""}" @click=${() => { this.open = false; }}></div>
      <nav class="rail ${this.open ? "open" : ""}" id="nav" aria-label="Pages">${this.rail()}</nav>
      <main id="view" tabindex="-1" data-page=${this.page.name}><div class="page">${this.page.render(app, this.route.page === this.page.name ? this.route : { page: this.page.name, parts: [], query: {} })}</div></main>`;
  }
}
customElements.define("st-shell", Shell);
// A badge of the rail, or the name of the studio, has changed.
export const redrawShell = () => window.dispatchEvent(new Event("st-app"));
