// Addresses: #/page/part/part?query. What is selected is in the address, so every view can be sent to somebody.
import { queryOf } from "./api.js";

export const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i; // a pasted id
export function read(hash = location.hash) {
  const [path, query] = hash.replace(/^#\/?/, "").split("?");
  const [page, ...parts] = path.split("/").map(decodeURIComponent);
  return { page, parts: parts.filter(Boolean), query: Object.fromEntries(new URLSearchParams(query || "")) };
}
export const href = (page, parts = [], query = {}) => `#/${[page, ...parts].map(encodeURIComponent).join("/")}${queryOf(query)}`;
export function go(target, { replace = false } = {}) {
  if (target === location.hash) return;
  if (!replace) return void (location.hash = target);
  history.replaceState(null, "", target);
  window.dispatchEvent(new HashChangeEvent("hashchange"));
}
// The same page with other query words: with("status", "4xx")
export const withQuery = (route, changes) => href(route.page, route.parts, { ...route.query, ...changes });
