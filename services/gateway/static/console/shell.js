// The frame of both consoles: pages by the hash, the theme, errors, and the calls that a page made.
import { button, code, h } from "./dom.js";

const $ = (id) => document.getElementById(id);

export function errorBox(error) {
  return h("div", { class: "problem", role: "alert" },
    h("strong", {}, error.code ? `${error.message} (${error.code})` : String(error.message || error)),
    (error.detail || []).slice(0, 10).map((one) => h("div", {}, `${one.loc.join(".")}: ${one.msg}`)),
    error.requestId && h("div", {}, "Request ", h("a", { href: `#/requests?request_id=${encodeURIComponent(error.requestId)}` }, error.requestId)));
}

// Runs a button's action, and shows an error next to it.
export function guarded(place, act) {
  return async (event) => {
    const pressed = event && event.currentTarget;
    if (pressed && "disabled" in pressed) pressed.disabled = true;
    place.replaceChildren();
    try { await act(event); } catch (error) { if (error.name !== "AbortError") place.append(errorBox(error)); } finally {
      if (pressed && "disabled" in pressed) pressed.disabled = false;
    }
  };
}

export class Shell {
  constructor(api, pages, context) {
    this.api = api;
    this.pages = pages;
    this.context = context;
    this.ending = null;
  }

  start() {
    $("nav").replaceChildren(...Object.entries(this.pages).map(([name, page]) => h("a", { href: `#/${name}`, "data-page": name }, page.title)));
    api_calls(this.api);
    window.addEventListener("hashchange", () => this.show());
    this.show();
  }

  async show() {
    const [name, query] = location.hash.replace(/^#\/?/, "").split("?");
    const chosen = Object.hasOwn(this.pages, name) ? name : Object.keys(this.pages)[0];
    const page = this.pages[chosen];
    if (this.ending) this.ending.abort();
    const ending = this.ending = new AbortController();
    for (const link of document.querySelectorAll("#nav a")) {
      if (link.dataset.page === chosen) link.setAttribute("aria-current", "page");
      else link.removeAttribute("aria-current");
    }
    $("shell").classList.remove("open");
    document.title = `${page.title}: ${document.body.dataset.title}`;
    this.api.calls = [];
    this.api.onCall();
    const title = h("h1", { tabindex: "-1" }, page.title);
    const place = h("div", { class: "page", "aria-busy": "true" });
    $("view").replaceChildren(title, place);
    title.focus({ preventScroll: true });
    try {
      await page.render({ place, api: this.api, params: new URLSearchParams(query), signal: ending.signal, ...this.context });
    } catch (error) {
      if (!ending.signal.aborted) place.append(errorBox(error));
    }
    place.removeAttribute("aria-busy");
  }

  again() { this.show(); }
}

function api_calls(api) {
  const list = h("div", {});
  const details = h("details", { class: "calls" }, h("summary", {}, "Show curl"),
    h("p", {}, "The requests of this page. A program sends its own key or token instead of the cookie."), list);
  api.onCall = () => list.replaceChildren(...api.calls.map((line) => h("pre", { tabindex: "0" }, line)));
  $("calls").replaceChildren(details);
}

export function frame() {
  const dark = window.matchMedia("(prefers-color-scheme: dark)");
  const paint = (on) => {
    document.documentElement.dataset.theme = on ? "dark" : "light";
    $("theme").textContent = on ? "Light" : "Dark";
  };
  paint(dark.matches);
  dark.addEventListener("change", () => paint(dark.matches));
  $("theme").addEventListener("click", () => paint(document.documentElement.dataset.theme !== "dark"));
  const menu = $("menu");
  const open = (on) => { $("shell").classList.toggle("open", on); menu.setAttribute("aria-expanded", String(on)); };
  menu.addEventListener("click", () => open(!$("shell").classList.contains("open")));
  $("veil").addEventListener("click", () => open(false));
  document.addEventListener("keydown", (event) => { if (event.key === "Escape") open(false); });
}

export function alone(title, ...children) {
  document.body.classList.add("signed-out");
  $("view").replaceChildren(h("h1", { tabindex: "-1" }, title), h("div", { class: "page" }, ...children));
  $("nav").replaceChildren();
  $("calls").replaceChildren();
}

export function secretBox(label, secret) {
  const done = h("span", { role: "status" });
  return h("div", { class: "secret" }, h("strong", {}, label), code(secret),
    button("Copy", async () => {
      try { await navigator.clipboard.writeText(secret); done.textContent = "Copied"; } catch { done.textContent = "Select it and press Ctrl+C"; }
    }), done, h("p", {}, "It is shown only once. Store it where your server can read it."));
}
