// Small marks without state: status dots, pills, avatars, meters, icons. A colour always comes with a shape.
import { html, nothing, svg } from "../vendor/lit.js";

const KINDS = {
  good: ["succeeded", "ready", "checked_in", "delivered", "enabled", "confirmed", "done", "healthy", "scheduled", "active", "ok", "live", "imported"],
  warn: ["pending", "waitlisted", "degraded", "waiting", "held", "running", "late", "paused", "past_due", "promoted", "trial", "in_progress"],
  bad: ["dead", "cancelled", "failing", "not_ready", "unreachable", "failed", "no_show", "revoked", "rejected", "refused", "open"],
};
const SHAPES = { good: "●", warn: "◐", bad: "✕", idle: "○" };
export function kindOf(word) {
  if (typeof word === "number") return word >= 500 || word === 0 ? "bad" : word >= 400 ? "warn" : word >= 300 ? "idle" : "good";
  return Object.keys(KINDS).find((kind) => KINDS[kind].includes(word)) || (SHAPES[word] ? word : "idle");
}
export const words = (text) => String(text).replaceAll("_", " ");
export const counted = (number, one, more = `${one}s`) => `${number.toLocaleString("en")} ${number === 1 ? one : more}`;
// dot("dead"), dot(409): `label` is what a screen reader hears, the word itself if it is not given.
export const dot = (word, label = words(word)) => html`<span class="dot ${kindOf(word)}" role="img" aria-label=${label} title=${label}>${SHAPES[kindOf(word)]}</span>`;
export const pill = (word, kind = kindOf(word)) => html`<span class="pill ${kind}">${words(word)}</span>`;
export const state = (word, text = words(word)) => html`<span class="state ${kindOf(word)}"><span aria-hidden="true">${SHAPES[kindOf(word)]}</span> ${text}</span>`;
export const method = (name) => html`<span class="method ${name}">${name}</span>`;

const hue = (text) => { let sum = 7; for (const char of String(text)) sum = (sum * 31 + char.codePointAt(0)) % 997; return sum % 8; };
export const initials = (name) => String(name || "?").trim().split(/\s+/).filter(Boolean).map((part) => [...part][0]).filter((_, n, all) => n === 0 || n === all.length - 1).join("").toUpperCase() || "?";
// Coloured by the id, so that a person keeps a colour.
export const avatar = (name, id = name) => html`<span class="avatar h${hue(id)}" aria-hidden="true">${initials(name)}</span>`;

// Seats: pills up to 20 of them, then a bar. `inside` of `taken` are checked in.
export function seats(taken, capacity, inside = null) {
  const label = `${taken} of ${capacity} seats taken${inside === null ? "" : `, ${inside} checked in`}`;
  const full = taken >= capacity;
  if (capacity > 20 || capacity === 0) {
    const part = (count) => `${capacity ? Math.min(100, (count / capacity) * 100) : 0}%`;
    return html`<svg class="seat-bar ${full ? "full" : ""}" role="img" aria-label=${label} height="6" width="100%"><rect class="track" width="100%" height="6" rx="3"></rect>
      <rect class="taken" width=${part(taken)} height="6" rx="3"></rect>${inside === null ? nothing : svg`<rect class="inside" width=${part(inside)} height="6" rx="3"></rect>`}</svg>`;
  }
  return html`<span class="seats ${full ? "full" : ""}" role="img" aria-label=${label}>${Array.from({ length: capacity }, (_, n) => html`<i class=${inside !== null && n < inside ? "inside" : n < taken ? "taken" : ""}></i>`)}</span>`;
}
// A share of a whole as a thin bar.
export const meter = (value, most, label, kind = "good") => html`<svg class="meter" role="img" aria-label=${label} height="6" width="100%"><rect class="track" width="100%" height="6" rx="3"></rect><rect class="bar-${kind}" width=${`${most ? Math.min(100, (value / most) * 100) : 0}%`} height="6" rx="3"></rect></svg>`;

const PATHS = {
  home: "M3 9.5 10 4l7 5.5V16a1 1 0 0 1-1 1h-3.5v-4.5h-5V17H4a1 1 0 0 1-1-1z", requests: "M3 7h11m0 0-3-3m3 3-3 3M17 13H6m0 0 3-3m-3 3 3 3",
  events: "M10.5 3 5 11h4.5L9 17l6-8.5h-4.8z", webhooks: "M7 5.5a3 3 0 1 1 4.6 2.5l2.2 4M6.2 9.6a3 3 0 1 0 2.6 4.4h5M13.8 11.2a3 3 0 1 1-.8 5.2M10 5.5 7.2 11",
  schedule: "M4 5h12a1 1 0 0 1 1 1v10a1 1 0 0 1-1 1H4a1 1 0 0 1-1-1V6a1 1 0 0 1 1-1zM3 9h14M7 3v4M13 3v4", settings: "M4 6h7m4 0h1M4 14h1m4 0h7M13 4v4M7 12v4",
  today: "M10 17a7 7 0 1 0 0-14 7 7 0 0 0 0 14zM10 6v4l2.8 1.8", members: "M10 9.5a3 3 0 1 0 0-6 3 3 0 0 0 0 6zM4 17c.5-3.2 2.9-5 6-5s5.500 1.800 6 5", partners: "M4 8h12v8H4zM7.500 8V5h5v3",
  deliveries: "m3 10 14-6-5 13-3-5.500zM9 11.500 17 4", files: "M10 3v9m0 0-3-3m3 3 3-3M4 14v3h12v-3", team: "M7 9a2.500 2.500 0 1 0 0-5 2.500 2.500 0 0 0 0 5zM3 16c.3-2.800 1.800-4.500 4-4.500s3.700 1.700 4 4.500M13.500 9.500a2 2 0 1 0 0-4M13.500 11.700c1.900.2 3.200 1.700 3.500 4.300",
  activity: "M3 10h3l2-5 4 10 2-5h3", system: "M4 4h12v5H4zM4 11h12v5H4zM7 6.500h.01M7 13.500h.01", studios: "M4 17V6l6-3 6 3v11M8 17v-4h4v4M8 8h.01M12 8h.01", audit: "M6 3h8l2 2v12H4V5zM7 8h6M7 11h6M7 14h4",
  left: "m12 5-5 5 5 5", down: "m5 8 5 5 5-5", right: "m8 5 5 5-5 5", close: "m5 5 10 10M15 5 5 15", more: "M5 10h.01M10 10h.01M15 10h.01", search: "M9 14A5 5 0 1 0 9 4a5 5 0 0 0 0 10zM13 13l4 4", menu: "M3 6h14M3 10h14M3 14h14",
  moon: "M16 12a6.500 6.500 0 0 1-8-8 6.500 6.500 0 1 0 8 8z", sun: "M10 13.500a3.500 3.500 0 1 0 0-7 3.500 3.500 0 0 0 0 7zM10 2.500v1.500M10 16v1.500M2.500 10H4M16 10h1.500M4.700 4.700l1 1M14.300 14.300l1 1M15.300 4.700l-1 1M5.700 14.300l-1 1",
  copy: "M7 7h9v9H7zM4 13V4h9", plus: "M10 4v12M4 10h12", check: "m4 10.500 4 4 8-9", key: "M12.500 11.500a4 4 0 1 0-4-4c0 .5.100 1 .3 1.500L4 13.800V16h2.500v-1.500H8V13h1.500l1.500-1.700c.5.100 1 .2 1.500.2z", person: "M10 9.500a3 3 0 1 0 0-6 3 3 0 0 0 0 6zM4 17c.5-3.200 2.900-5 6-5s5.500 1.800 6 5",
  tag: "M3 4h6l8 8-5.500 5.500L3 9.500zM6.500 7h.01", form: "M5 3h10v14H5zM8 7h4M8 10h4M8 13h2", cart: "M3 4h2l2 9h8l2-6H6M8 17h.01M14 17h.01",
};
export const icon = (name) => html`<svg class="icon" viewBox="0 0 20 20" width="18" height="18" aria-hidden="true" fill="none" stroke="currentColor" stroke-width="1.6" stroke-linecap="round" stroke-linejoin="round"><path d=${PATHS[name] || PATHS.tag}></path></svg>`;
