// Schedule: a day by rooms, a week by days, or an agenda; a class opens beside it.
import { facts } from "../ui/detail-pane.js";
import { avatar, copy, copyChip, empty, go, href, html, icon, Load, nothing, panel, Piece, pill, seats, withQuery } from "../ui/element.js";
import { chips } from "../ui/controls.js";
import { addDays, clock, day, dayName, longDay, midnight, monday, zones } from "../ui/time.js";
import { personName } from "./names.js";
import "../ui/calendar.js";

const SMALL = matchMedia("(max-width: 820px)");
const DATE = /^\d{4}-\d\d-\d\d$/;
export class Schedule extends Piece {
  static properties = { app: {}, route: {} };
  connectedCallback() {
    super.connectedCallback();
    const { app } = this;
    this.lists = new Load(this, async () => { const [rooms, instructors, types, locations] = await Promise.all(["rooms", "instructors", "class-types"].map((path) => app.names.map(path)).concat(app.may("studio:read") ? app.names.list("locations") : [])); return { rooms, instructors, types, locations: locations || [] }; });
    this.lists.run();
    this.classes = new Load(this, () => this.read());
    this.one = new Load(this, (id) => this.readClass(id));
    SMALL.addEventListener("change", () => this.requestUpdate(), { signal: this.signal });
    document.addEventListener("keydown", (event) => { if (["ArrowLeft", "ArrowRight"].includes(event.key) && !event.target.closest?.("input, select, textarea, dialog, .tabs")) this.move(event.key === "ArrowLeft" ? -1 : 1); }, { signal: this.signal });
    window.addEventListener("st-zone", () => { if (this.readIn !== zones.current) this.classes.run(); }, { signal: this.signal });
    let timer = 0;
    app.follower?.subscribe((events) => { if (!events || events.some((one) => /^(booking|class|waitlist)\./.test(one.type))) { clearTimeout(timer); timer = setTimeout(() => { if (this.signal.aborted) return; this.classes.run(); if (this.shownId) this.one.run(this.shownId); }, 700); } }, this.signal);
  }
  get places() { return this.lists.value?.locations || []; }
  // Seven columns are too narrow for a phone.
  get view() { const { view } = this.route.query; return SMALL.matches && view !== "day" ? "agenda" : view || "week"; }
  get day() { return DATE.test(this.route.query.day || "") ? this.route.query.day : day(Date.now()); }
  get span() { return this.view === "day" ? [this.day, addDays(this.day, 1)] : [monday(this.day), addDays(monday(this.day), 7)]; }
  move(steps) { go(withQuery(this.route, { day: addDays(this.day, steps * (this.view === "day" ? 1 : 7)), class: "" }), { replace: true }); }
  async read() {
    const [first, last] = this.span, { api, may } = this.app;
    this.readIn = zones.current;
    const { rows, more } = await api.all("/classes", { starts_after: new Date(midnight(first) - 1).toISOString(), starts_before: midnight(last).toISOString(), location_id: this.route.query.location }, 1000, { signal: this.signal });
    this.app.names.learn("class", rows);
    const waiting = new Map();
    if (may("bookings:read") && rows.some((row) => row.allow_waitlist && !row.available_count)) for (const row of (await api.all("/waitlist", { status: "waiting" }, 2000, { signal: this.signal }).catch(() => ({ rows: [] }))).rows) waiting.set(row.class_id, (waiting.get(row.class_id) || 0) + 1);
    return { rows, more, waiting };
  }
  async readClass(id) {
    const { api, may } = this.app, options = { signal: this.signal };
    const row = await api.get(`/classes/${encodeURIComponent(id)}`, {}, options);
    const people = may("bookings:read");
    const [bookings, waitlist, spots] = await Promise.all([people ? api.all("/bookings", { class_id: id }, 400, options).then((page) => page.rows) : null, people ? api.all("/waitlist", { class_id: id, status: "waiting" }, 400, options).then((page) => page.rows) : null, row.spot_selection_mode ? api.all(`/classes/${id}/spots`, {}, 400, options).then((page) => page.rows) : []]);
    return { row, bookings, waitlist, spots };
  }
  willUpdate(changed) {
    if (!changed.has("route")) return;
    const wanted = JSON.stringify([this.span, this.route.query.location]), id = this.route.query.class;
    if (wanted !== this.wanted) { this.wanted = wanted; this.classes.clear(); this.classes.run(); }
    if (id !== this.shownId) { this.shownId = id; this.one.clear(); if (id) this.one.run(id); }
  }
  title() {
    const [first, last] = this.span;
    if (this.view === "day") return longDay(midnight(first));
    const end = addDays(last, -1), month = (text) => new Intl.DateTimeFormat("en-GB", { month: "long", timeZone: "UTC" }).format(new Date(`${text}T00:00Z`));
    return `${Number(first.slice(8))}${month(first) === month(end) ? "" : ` ${month(first)}`} – ${Number(end.slice(8))} ${month(end)} ${end.slice(0, 4)}`;
  }
  seatText(row) { const waiting = this.classes.value?.waiting.get(row.id); return row.status === "cancelled" ? "cancelled" : `${row.booked_count}/${row.capacity}${row.held_count ? ` · ${row.held_count} held` : ""}${waiting ? ` · ${waiting} waiting` : ""}`; }
  hue(row) { const types = [...(this.lists.value?.types.keys() || [])]; return Math.max(0, types.indexOf(row.class_type_id)) % 8; }
  grid({ rows }) {
    const { rooms } = this.lists.value || { rooms: new Map() }, today = day(Date.now()), [first] = this.span;
    if (this.view === "agenda") return this.agenda(rows, today);
    const used = [...new Set(rows.map((row) => row.room_id))];
    const columns = this.view === "day" ? (used.length ? used : [null]).map((id) => ({ key: id, title: rooms.get(id)?.name || "No room", today: first === today })) : Array.from({ length: 7 }, (_, n) => { const date = addDays(first, n), name = dayName(midnight(date)).split(" "); return { key: date, title: name[0], sub: name.slice(1).join(" "), today: date === today }; });
    const none = rows.length ? nothing : html`<p class="note">${this.pick ? "No classes in this week. Click into a day to add one." : "No classes in this week."}</p>`;
    return html`${none}<st-calendar .rows=${rows} .columns=${columns} .columnOf=${this.view === "day" ? (row) => row.room_id : (row) => day(row.start_time)} .hueOf=${(row) => this.hue(row)} .text=${(row) => this.seatText(row)} .fill=${(row) => (row.capacity ? row.booked_count / row.capacity : 0)} .to=${(row) => withQuery(this.route, { class: row.id })} .selected=${this.shownId} .pick=${this.pick || null}
      .moreTo=${({ key }) => withQuery(this.route, this.view === "day" ? { view: "agenda" } : { view: "day", day: key, class: "" })}></st-calendar>`;
  }
  agenda(rows, today) {
    const days = Map.groupBy(rows.toSorted((a, b) => (a.start_time < b.start_time ? -1 : 1)), (row) => day(row.start_time));
    const { rooms, instructors } = this.lists.value || { rooms: new Map(), instructors: new Map() };
    return html`<div class="agenda">${[...days].map(([date, list]) => html`<section><h2 class="over-line">${date === today ? "Today · " : ""}${longDay(midnight(date))}</h2><ul class="list card flush">${list.map((row) => html`<li><a class="item ${row.status === "cancelled" ? "gone-class" : ""}" href=${withQuery(this.route, { class: row.id })} aria-current=${row.id === this.shownId ? "true" : nothing} @click=${() => setTimeout(() => document.querySelector(".pane")?.focus({ preventScroll: true }), 60)}><i class="swatch t${this.hue(row)}"></i><span class="one main-line">${clock(row.start_time)} ${row.title}</span><span class="right">${this.seatText(row)}</span><span class="one two soft">${[rooms.get(row.room_id)?.name, instructors.get(row.instructor_id)?.name].filter(Boolean).join(" · ")}</span></a></li>`)}</ul></section>`)}</div>`;
  }
  person(id, rest) {
    const member = this.app.names.get("member", id), name = personName(member) || "Member";
    return html`<li>${avatar(member ? name : "?", id)}<span class="grow"><strong>${name}</strong>${member ? nothing : html` ${copyChip(id, "member's id")}`}</span>${rest}</li>`;
  }
  detail({ row, bookings, waitlist, spots }) {
    const { rooms, instructors, locations } = this.lists.value || { rooms: new Map(), instructors: new Map(), locations: [] };
    const inside = (bookings || []).filter((one) => !["cancelled", "waitlisted", "expired"].includes(one.status)), left = (bookings || []).filter((one) => one.status === "cancelled").length;
    const calls = [`/classes/${row.id}`, `/bookings?class_id=${row.id}`, `/waitlist?class_id=${row.id}&status=waiting`];
    return html`<h1>${row.title}</h1><p class="soft row">${dayName(row.start_time)} · ${clock(row.start_time)} – ${clock(row.end_time)} ${row.status === "scheduled" ? nothing : pill(row.status)}</p>
      <p class="row acts">${seats(row.booked_count, row.capacity)} <span class="soft">${row.booked_count} of ${row.capacity} · ${row.available_count} free${waitlist?.length ? ` · ${waitlist.length} waiting` : ""}</span></p>
      ${facts([["Room", rooms.get(row.room_id)?.name], ["With", instructors.get(row.instructor_id)?.name], ["Location", locations.find((one) => one.id === row.location_id)?.name], ["Waitlist", row.allow_waitlist ? "Yes" : "No"], ["About", row.description], ["Class", html`${copyChip(row.id, "class's id")} <a href=${href("events", [], { resource: row.id })}>Its events</a>`]])}
      ${spots.length ? html`<h2 class="over-line">Spots</h2><ul class="spots">${spots.map((spot) => html`<li class=${spot.available ? "" : "taken"} title=${spot.available ? "free" : "taken"}>${spot.label}</li>`)}</ul>` : nothing}
      ${bookings === null ? html`<p class="note">The roster needs the scope bookings:read.</p>` : html`<h2 class="over-line">Roster ${inside.length}</h2>${inside.length ? html`<ul class="people">${inside.map((one) => this.person(one.member_id, one.status === "confirmed" ? nothing : pill(one.status)))}</ul>` : html`<p class="note">Nobody has booked.</p>`}
        ${left ? html`<p class="faint">${left} cancelled</p>` : nothing}
        ${waitlist.length ? html`<h2 class="over-line">Waiting ${waitlist.length}</h2><ul class="people">${waitlist.toSorted((a, b) => a.position - b.position).map((one) => this.person(one.member_id, html`<span class="soft">${one.position}</span>`))}</ul>` : nothing}`}
      <h2 class="over-line">Made of three calls</h2><div class="stack">${calls.map((path) => html`<p class="row"><code class="grow call">GET ${path.replace(row.id, "…")}</code><button class="btn small" @click=${() => copy(this.app.api.curl("GET", path))}>Copy as curl</button></p>`)}</div>`;
  }
  render() {
    const { query } = this.route, locations = this.places, pick = (changes) => go(withQuery(this.route, changes));
    return html`<div class="cal-split ${this.shownId ? "open" : ""}"><section class="cal-side"><div class="head"><h1>${this.title()}</h1><div class="row"><button class="btn small" @click=${() => pick({ day: "", class: "" })}>Today</button><button class="icon-btn" aria-label="Earlier" title="Earlier (←)" @click=${() => this.move(-1)}>${icon("left")}</button><button class="icon-btn" aria-label="Later" title="Later (→)" @click=${() => this.move(1)}>${icon("right")}</button></div><span class="grow"></span>
        ${locations.length > 1 ? chips("Location", [["", "All"], ...locations.map((row) => [row.id, row.name])], query.location || "", (location) => pick({ location, class: "" })) : nothing}
        ${chips("View", [["day", "Day"], ...(SMALL.matches ? [] : [["week", "Week"]]), ["agenda", "Agenda"]], this.view, (view) => pick({ view }))}${this.extra?.() || nothing}</div>
        ${panel(this.classes, (value) => html`${this.grid(value)}${value.more ? html`<p class="soft">There are more classes than are shown; choose a location.</p>` : nothing}`, { isEmpty: ({ rows }) => !rows.length && this.view !== "week", empty: empty(this.view === "day" ? "No classes on this day." : "No classes in this week.", this.view === "day" ? html`<button class="btn" @click=${() => pick({ view: "week" })}>Show the week</button>` : html`<button class="btn" @click=${() => this.move(1)}>Next week</button>`), lines: 9 })}</section>
      ${this.shownId ? html`<section class="pane" tabindex="-1" aria-label="Class"><a class="pane-close" data-close href=${withQuery(this.route, { class: "" })} aria-label="Close" title="Close (Esc)">${icon("close")}</a>${panel(this.one, (value) => this.detail(value))}</section>` : nothing}</div>`;
  }
}
customElements.define("partner-schedule", Schedule);
