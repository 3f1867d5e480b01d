// The studio that is worked on: chosen once in the top bar, kept in the address and in this browser.
import { html, nothing } from "../vendor/lit.js";
import { redrawShell } from "../ui/app-shell.js";
import { choice, openDialog } from "../ui/controls.js";
import { icon } from "../ui/marks.js";
import { clock, dayName, setZone } from "../ui/time.js";
import { toast } from "../ui/toast.js";
import { Attendance } from "../desk/attendance.js";
import { Names } from "../partner/names.js";

const words = () => new URLSearchParams(location.search);
function keepInAddress(changes) {
  const now = words();
  for (const [name, value] of Object.entries(changes)) if (value) now.set(name, value); else now.delete(name);
  history.replaceState(null, "", `${location.pathname}${String(now) ? `?${now}` : ""}${location.hash}`);
}
const isCalled = (name) => (studio) => name && (studio.slug === name || studio.id === name);
export const wantedStudio = (studios) => studios.find(isCalled(words().get("studio"))) || studios.find(isCalled(keep.get("studio"))) || studios[0] || null;

// The API below one studio, with the same methods as the whole.
class StudioApi {
  constructor(api, studio) { Object.assign(this, { api, at: `/studios/${encodeURIComponent(studio.id)}` }); }
  get(path, ...rest) { return this.api.get(this.at + path, ...rest); }
  all(path, ...rest) { return this.api.all(this.at + path, ...rest); }
  post(path, ...rest) { return this.api.post(this.at + path, ...rest); }
  patch(path, ...rest) { return this.api.patch(this.at + path, ...rest); }
  curl(method, path, body) { return this.api.curl(method, this.at + path, body); }
}

// `left` is the front desk of the session before, with what it had not sent.
export function useStudio(app, studio, left = null) {
  if (app.attendance?.waiting.length) return void toast("Changes of this studio wait to be sent. Choose another one when they are.", { kind: "bad" });
  app.attendance?.stop();
  Object.assign(app, { studio, location: "", kept: { rosters: new Map() } });
  app.brand = () => (app.studios.length > 1 ? html`<button class="switcher" id="studio" aria-haspopup="dialog" aria-label="Studio: ${studio.name}. Choose another" @click=${() => chooseStudio(app)}><span>${studio.name}</span>${icon("down")}</button>` : studio ? studio.name : "No studio yet");
  if (!studio) return void (app.top = null);
  const slug = studio.slug || studio.id;
  app.location = isCalled(words().get("studio"))(studio) ? words().get("location") || "" : "";
  keepInAddress({ studio: slug, location: app.location });
  keep.set("studio", slug);
  setZone({ studio: studio.timezone || "UTC" });
  app.api = new StudioApi(app.root, studio);
  app.names = new Names(app.api, () => true);
  app.may = () => true;
  app.attendance = left ? Object.assign(left, { api: app.api }) : new Attendance(app.api, studio);
  let places = [];
  // A front desk works by the clock on its wall.
  const turnZone = () => {
    const zone = places.find((row) => row.id === app.location)?.timezone;
    setZone(zone && zone !== studio.timezone ? { studio: zone, of: "location" } : { studio: studio.timezone || "UTC" });
  };
  const pick = (id) => {
    app.location = id;
    keepInAddress({ location: id });
    turnZone();
    redrawShell();
    window.dispatchEvent(new Event("desk-location"));
  };
  app.top = () => {
    const [page] = location.hash.replace(/^#\/?/, "").split(/[/?]/), now = Date.now(), options = places.map((row) => [row.id, row.name]);
    const place = places.length > 1 && ["today", "week", ""].includes(page);
    return html`${place ? choice("Location", [["", "All locations"], ...options], app.location, pick) : nothing}
      ${["today", ""].includes(page) ? html`<span class="soft num only-wide today-clock">${dayName(now)} · ${clock(now)}</span>` : nothing}`;
  };
  app.names.list("locations").then((rows) => { if (app.studio === studio) { places = rows; turnZone(); redrawShell(); } });
}

export function chooseStudio(app) {
  let text = "";
  const dialog = openDialog("Studio", () => {
    const found = app.studios.filter((one) => `${one.name} ${one.slug}`.toLowerCase().includes(text)).slice(0, 50);
    const pick = (one) => { dialog.close(); app.choose(one); };
    return html`<form @submit=${(event) => { event.preventDefault(); if (found[0]) pick(found[0]); }}><label class="search">${icon("search")}<span class="gone">Find a studio</span><input data-first type="search" placeholder="Find a studio" autocomplete="off" @input=${(event) => { text = event.target.value.trim().toLowerCase(); dialog.redraw(); }}></label></form>
      <ul class="picks">${found.map((one) => html`<li><button type="button" class="pick-row" aria-current=${one.id === app.studio?.id ? "true" : nothing} @click=${() => pick(one)}><span class="grow"><strong>${one.name}</strong></span><span class="faint">${(one.timezone || "").replaceAll("_", " ")}</span></button></li>`)}</ul>${found.length ? nothing : html`<p class="soft">No studio has this name.</p>`}`;
  });
}
