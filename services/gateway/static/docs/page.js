// The reference: reads the document, draws it, and follows the reader.
import { card, eventCard } from "./operation.js";
import { $, copyButton, h } from "./dom.js";
import { drawGuides } from "./guides.js";
import { baseUrl } from "./samples.js";
import { contents, find, jump, results } from "./search.js";
import { METHODS, api, useDocument } from "./schema.js";

// The operators' page names its own document.
const DOCUMENT = document.documentElement.dataset.document;
const GUIDES_FILE = "/docs/guides.json";

const GUIDES = [["authentication", "Authentication"], ["errors", "Errors"], ["pagination", "Pagination"], ["idempotency", "Idempotency"], ["limits", "Rate limits and times"], ["flows", "Booking flows"], ["webhooks", "Webhooks"], ["mirroring", "Keeping a copy"], ["versioning", "Versions"], ["changelog", "Changelog"]];
const links = [];
const operations = [];
let inside = null;
let drawn = null;

function navGroup(title, entries) {
  const heading = h("h2", {}, title);
  const nodes = entries.map((entry) => {
    const link = h("a", { href: `#${entry.id}` }, entry.verb ? h("span", { class: `verb ${entry.verb}` }, entry.short || entry.verb) : null, h("span", {}, entry.title));
    links.push({ link, heading, id: entry.id, text: `${entry.title} ${entry.verb || ""} ${entry.find || ""}`.toLowerCase() });
    return link;
  });
  $("nav").append(heading, ...nodes);
}

function draw() {
  $("version").textContent = api.info.version;
  $("base").textContent = baseUrl();
  $("base").after(copyButton(baseUrl, "Copy the base URL"));
  if ($("auth-example")) {
    drawGuides(drawn);
    navGroup("Guide", GUIDES.map(([id, title]) => ({ id, title })));
  }
  const groups = new Map(api.tags.map((tag) => [tag.name, { tag, found: [] }]));
  for (const [path, methods] of Object.entries(api.paths)) {
    for (const method of METHODS) {
      if (methods[method]) {
        operations.push([path, method, methods[method]]);
        groups.get(methods[method].tags[0]).found.push(operations.at(-1));
      }
    }
  }
  const reference = $("reference");
  reference.replaceChildren();
  for (const { tag, found } of groups.values()) {
    if (!found.length) continue;
    reference.append(later(tag.name, tag.description, found.map(([, , op]) => op.operationId), () => found.map((one) => card(...one))));
    navGroup(tag.name, found.map(([path, method, op]) => ({ id: op.operationId, title: op.summary, verb: method.toUpperCase(), short: method === "delete" ? "DEL" : null, find: `${path} ${op.operationId} ${op["x-required-scope"] || ""}` })));
  }
  const events = Object.entries(api.webhooks || {});
  if (events.length) {
    const about = "What is delivered to your webhook endpoints and kept in the event log.";
    reference.append(later("Event kinds", about, events.map(([, item]) => item.post.operationId), () => events.map(([kind, item]) => eventCard(kind, item.post))));
    navGroup("Event kinds", events.map(([kind, item]) => ({ id: item.post.operationId, title: kind, find: item.post.summary })));
  }
  $("nav").prepend(h("div", { id: "found" }));
  $("nav").append(h("p", { class: "none", id: "nothing", hidden: true }, "Nothing fits."));
  follow();
  // What was typed while the document was being read.
  filter();
  if (location.hash) lead(location.hash.slice(1));
  drawRest();
}

// A group is drawn when it is wanted, or when there is nothing else to do: hundreds of cards at once keep a page busy for seconds.
const undrawn = [];
function later(name, about, ids, make) {
  const section = h("section", { class: "group", "aria-label": name }, h("h2", {}, name), h("p", {}, about));
  undrawn.push({ ids, draw: () => { section.append(...make()); for (const id of ids) watch.observe($(id)); } });
  return section;
}
function drawRest() {
  if (!undrawn.length) return;
  undrawn.shift().draw();
  (window.requestIdleCallback || setTimeout)(drawRest);
}
// Also draws the groups above it, so that nothing moves under the reader.
function lead(address) {
  const id = decodeURIComponent(address.split("/")[0]);
  if (undrawn.some((one) => one.ids.includes(id))) while (!$(id)) undrawn.shift().draw();
  jump(address);
}

// The sidebar marks what is on screen.
let watch;
function follow() {
  const byId = new Map(links.map((entry) => [entry.id, entry.link]));
  const visible = new Set();
  watch = new IntersectionObserver((entries) => {
    for (const entry of entries) entry.isIntersecting ? visible.add(entry.target.id) : visible.delete(entry.target.id);
    const here = links.find((entry) => visible.has(entry.id));
    for (const [id, link] of byId) {
      const on = here !== undefined && id === here.id;
      link.classList.toggle("here", on);
      if (on) { link.setAttribute("aria-current", "true"); reveal(link); } else link.removeAttribute("aria-current");
    }
  }, { rootMargin: "-8% 0px -62% 0px" });
  for (const id of byId.keys()) if ($(id)) watch.observe($(id));
}
function reveal(link) {
  const nav = $("nav");
  const top = link.offsetTop - nav.offsetTop;
  if (top < nav.scrollTop || top > nav.scrollTop + nav.clientHeight - 40) nav.scrollTop = top - nav.clientHeight / 3;
}

function filter() {
  const words = $("search").value.toLowerCase().split(/\s+/).filter(Boolean);
  const shown = new Set();
  for (const { link, heading, text } of links) {
    const fits = words.every((word) => text.includes(word));
    link.hidden = !fits;
    if (fits) shown.add(heading);
  }
  for (const { heading } of links) heading.hidden = !shown.has(heading);
  if (!$("nothing")) return;
  if (words.length) inside ||= contents(operations, drawn);
  const found = find(inside, words);
  $("found").replaceChildren(...results(found));
  $("nothing").hidden = shown.size + found.length > 0;
}
const shownLinks = () => [...$("nav").querySelectorAll("a")].filter((link) => !link.hidden);

function drawer(open) {
  $("shell").classList.toggle("open", open);
  $("menu").setAttribute("aria-expanded", String(open));
  if (open) $("search").focus();
}

$("search").addEventListener("input", filter);
$("search").addEventListener("keydown", (event) => {
  const first = shownLinks()[0];
  if (event.key === "Enter" && first) first.click();
  if (event.key === "ArrowDown" && first) { event.preventDefault(); first.focus(); }
  if (event.key === "Escape") { $("search").value = ""; filter(); $("search").blur(); drawer(false); }
});
$("nav").addEventListener("keydown", (event) => {
  if (event.key !== "ArrowDown" && event.key !== "ArrowUp") return;
  event.preventDefault();
  const all = shownLinks();
  const next = all[all.indexOf(document.activeElement) + (event.key === "ArrowDown" ? 1 : -1)];
  (next || $("search")).focus();
});
$("nav").addEventListener("click", (event) => { if (event.target.closest("a")) drawer(false); });
// Also where the address is the same as before: a result that is clicked twice leads there twice.
$("nav").addEventListener("click", (event) => {
  const link = event.target.closest("a.hit");
  if (link) lead(link.getAttribute("href").slice(1));
});
window.addEventListener("hashchange", () => {
  const address = location.hash.slice(1);
  if (address.includes("/") || undrawn.some((one) => one.ids.includes(address))) lead(address);
});
$("menu").addEventListener("click", () => drawer(!$("shell").classList.contains("open")));
$("veil").addEventListener("click", () => drawer(false));
document.addEventListener("keydown", (event) => {
  if (event.key === "Escape") drawer(false);
  const typing = /^(INPUT|SELECT|TEXTAREA)$/.test(document.activeElement.tagName);
  const ctrl = event.ctrlKey || event.metaKey;
  if (event.key === "/" && !typing && !ctrl || event.key === "k" && ctrl) { event.preventDefault(); $("search").focus(); }
});

function theme(name) {
  document.documentElement.dataset.theme = name;
  $("theme").textContent = name === "dark" ? "Light" : "Dark";
  $("theme").setAttribute("aria-label", `Switch to ${name === "dark" ? "light" : "dark"} colours`);
}
let kept = null;
try { kept = localStorage.getItem("theme"); } catch { /* storage may be off */ }
const dark = matchMedia("(prefers-color-scheme: dark)");
theme(kept === "dark" || kept === "light" ? kept : dark.matches ? "dark" : "light");
dark.addEventListener("change", (event) => { if (!kept) theme(event.matches ? "dark" : "light"); });
$("theme").addEventListener("click", () => {
  kept = document.documentElement.dataset.theme === "dark" ? "light" : "dark";
  theme(kept);
  try { localStorage.setItem("theme", kept); } catch { /* storage may be off */ }
});

async function fetched(address) {
  const answer = await fetch(address, { credentials: "omit" });
  if (!answer.ok) throw new Error(`${address}: ${answer.status}`);
  return answer.json();
}
async function load() {
  try {
    const [read, guides] = await Promise.all([DOCUMENT, ...($("changelog") ? [GUIDES_FILE] : [])].map(fetched));
    useDocument(read);
    drawn = guides;
  } catch (problem) {
    const again = h("button", { class: "ghost", type: "button", onclick: load }, "Try again");
    $("reference").replaceChildren(h("p", { class: "notice", role: "alert" }, `The document at ${DOCUMENT} could not be read (${problem.message}). `, again));
    return;
  }
  draw();
}
load();
