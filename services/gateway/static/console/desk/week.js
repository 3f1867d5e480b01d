// Week: the same calendar as partners see, to be changed: a click or a drag into an empty place makes a class, a class opens with its people.
import { html, nothing } from "../vendor/lit.js";
import { copyChip } from "../ui/copy-chip.js";
import { facts } from "../ui/detail-pane.js";
import { choice, field, openForm } from "../ui/controls.js";
import { poll } from "../ui/live.js";
import { avatar, counted, icon, pill, seats } from "../ui/marks.js";
import { href } from "../ui/route.js";
import { addDays, clock, day, dayName, instant } from "../ui/time.js";
import { failed, toast } from "../ui/toast.js";
import { Schedule } from "../partner/schedule.js";
import { cancelClass } from "./acts.js";

const two = (number) => String(number).padStart(2, "0");

// The sheet for a new class or a change of one. `given` is a class, or what is known of a new one.
export function classSheet(app, lists, given, done) {
  const row = given.id ? given : null;
  const form = row
    ? { class_type_id: row.class_type_id || "", title: row.title, instructor_id: row.instructor_id || "", room_id: row.room_id || "", date: day(row.start_time), at: clock(row.start_time), lasts: Math.round((new Date(row.end_time) - new Date(row.start_time)) / 60000), capacity: row.capacity, weeks: 1 }
    : { class_type_id: "", title: "", instructor_id: "", room_id: given.room_id || "", date: given.date, at: given.at || "18:00", lasts: given.lasts || 60, capacity: 12, weeks: 1 };
  let made = 0;
  // Only what was changed here: somebody else may have changed the rest meanwhile.
  const changed = (body) => Object.fromEntries(Object.entries(body).filter(([name, value]) => (name.endsWith("_time") ? new Date(value).getTime() !== new Date(row[name]).getTime() : value !== (row[name] ?? null))));
  const set = (name, value) => { form[name] = value; dialog.redraw(); };
  const options = (map, none) => [["", none], ...[...map.values()].filter((one) => one.active !== false).map((one) => [one.id, one.name])];
  async function save() {
    const room = lists.rooms.get(form.room_id);
    const body = (date) => ({ title: form.title, class_type_id: form.class_type_id || null, instructor_id: form.instructor_id || null, room_id: form.room_id || null, location_id: room?.location_id || row?.location_id || app.location || null,
      start_time: instant(date, form.at).toISOString(), capacity: form.capacity,
      end_time: new Date(instant(date, form.at).getTime() + form.lasts * 60000).toISOString() });
    if (row) await app.api.patch(`/classes/${row.id}`, changed(body(form.date)));
    else for (; made < form.weeks; made += 1) await app.api.post("/classes", { ...body(addDays(form.date, made * 7)), allow_waitlist: true });
    toast(row ? `${form.title} is changed.` : form.weeks > 1 ? `${form.title} is on the schedule for ${form.weeks} weeks.` : `${form.title} is on the schedule.`);
    return done;
  }
  const pickType = (id) => { if (!form.title || [...lists.types.values()].some((one) => one.name === form.title)) form.title = lists.types.get(id)?.name || form.title; set("class_type_id", id); };
  const pickRoom = (id) => { if (!row) form.capacity = lists.rooms.get(id)?.capacity || form.capacity; set("room_id", id); };
  const dialog = openForm(row ? `Change ${row.title}` : "New class", () => html`
    ${field("Class type", choice("Class type", options(lists.types, "None"), form.class_type_id, pickType))}${field("Title", html`<input required maxlength="200" .value=${form.title} @input=${(event) => set("title", event.target.value)}>`)}
    <div class="two-fields">${field("Day", html`<input type="date" required .value=${form.date} @input=${(event) => set("date", event.target.value)}>`)}${field("Begins", html`<input type="time" required .value=${form.at} @input=${(event) => set("at", event.target.value)}>`)}${field("Minutes", html`<input type="number" min="5" max="600" required .value=${String(form.lasts)} @input=${(event) => set("lasts", Number(event.target.value))}>`)}${field("Seats", html`<input type="number" min="0" max="1000" required .value=${String(form.capacity)} @input=${(event) => set("capacity", Number(event.target.value))}>`)}</div>
    ${field("Room", choice("Room", options(lists.rooms, "None"), form.room_id, pickRoom))}${field("Instructor", choice("Instructor", options(lists.instructors, "None"), form.instructor_id, (id) => set("instructor_id", id)))}
    ${row ? nothing : field("Repeat", choice("Repeat", [[1, "Once"], [4, "4 weeks"], [8, "8 weeks"], [12, "12 weeks"]].map(([n, text]) => [String(n), text]), String(form.weeks), (n) => set("weeks", Number(n))))}`,
  { sheet: true, cancel: true, send: save, verb: () => (row ? "Save" : form.weeks > 1 ? `Create ${form.weeks} classes` : "Create class") });
}

class Week extends Schedule {
  connectedCallback() {
    super.connectedCallback();
    const mark = () => JSON.stringify([this.classes.value?.rows.map((row) => [row.id, row.booked_count, row.capacity, row.status]), this.one.value?.bookings.map((one) => [one.id, one.status])]);
    this.nudge = poll(async () => { const before = mark(); await this.classes.run(); if (this.shownId) await this.one.run(this.shownId); return before !== mark(); }, this.signal, { fast: 5, slow: 45 });
    this.pick = (column, minute, lasts) => this.make({ lasts, date: this.view === "day" ? this.day : column.key, at: `${two(Math.floor(minute / 60))}:${two(minute % 60)}`, room_id: this.view === "day" ? column.key || "" : "" });
  }
  get places() { return []; } // the location is chosen in the top bar
  async readClass(id) {
    const [row, { rows }] = await Promise.all([this.app.api.get(`/classes/${encodeURIComponent(id)}`, {}, { signal: this.signal }), this.app.api.all(`/classes/${encodeURIComponent(id)}/roster`, {}, 1000, { signal: this.signal })]);
    return { row, bookings: rows };
  }
  make(given) { if (this.lists.value) classSheet(this.app, this.lists.value, given, () => this.again()); }
  again() { this.classes.run(); if (this.shownId) this.one.run(this.shownId); this.nudge(); }
  extra() { return html`<button class="btn main" @click=${() => this.make({ date: this.view === "day" ? this.day : day(Date.now()) })}>${icon("plus")}New class</button>`; }
  async seats(row, capacity) {
    const waited = this.one.value.bookings.filter((one) => one.status === "waitlisted").length;
    try { await this.app.api.patch(`/classes/${row.id}`, { capacity }); await Promise.all([this.classes.run(), this.one.run(row.id)]); } catch (error) { return failed(error); }
    const got = waited - this.one.value.bookings.filter((one) => one.status === "waitlisted").length;
    toast(`${row.title} has ${counted(capacity, "seat")}.${got > 0 ? ` ${got} from the waitlist got one.` : ""}`);
  }
  detail({ row, bookings }) {
    const { rooms, instructors, locations } = this.lists.value || { rooms: new Map(), instructors: new Map(), locations: [] };
    const inside = bookings.filter((one) => ["held", "confirmed", "checked_in", "no_show"].includes(one.status)).sort((a, b) => a.member_name.localeCompare(b.member_name)), waiting = bookings.filter((one) => one.status === "waitlisted").sort((a, b) => a.waitlist_position - b.waitlist_position);
    const gone = row.status === "cancelled", person = (one, rest) => html`<li>${avatar(one.member_name, one.member_id)}<a class="grow plain" href=${href("members", [one.member_id])}>${one.member_name}</a>${rest}</li>`;
    return html`<h1>${row.title} ${gone ? pill("cancelled") : nothing}</h1><p class="soft">${dayName(row.start_time)} · ${clock(row.start_time)} – ${clock(row.end_time)}</p>
      ${gone ? nothing : html`<p class="row acts"><a class="btn main" href=${href("today", [row.id])}>Check in</a><button class="btn" @click=${() => classSheet(this.app, this.lists.value, row, () => this.again())}>Change</button><button class="btn danger" @click=${async () => { if (await cancelClass(this.app, row)) this.again(); }}>Cancel class…</button></p>
      <div class="row"><div class="stepper" role="group" aria-label="Seats"><button aria-label="One seat fewer" ?disabled=${row.capacity <= inside.length} @click=${() => this.seats(row, row.capacity - 1)}>−</button><span>${counted(row.capacity, "seat")}</span><button aria-label="One seat more" @click=${() => this.seats(row, row.capacity + 1)}>+</button></div><span class="soft">${row.booked_count} taken · ${row.available_count} free</span></div>`}
      <p class="meter-line">${seats(row.booked_count, row.capacity)}</p>
      ${facts([["Room", rooms.get(row.room_id)?.name], ["With", instructors.get(row.instructor_id)?.name], ["Location", locations.find((one) => one.id === row.location_id)?.name], ["Class", copyChip(row.id, "class's id")]])}
      <h2 class="over-line">Roster ${inside.length}</h2>${inside.length ? html`<ul class="people">${inside.map((one) => person(one, one.status === "confirmed" ? nothing : pill(one.status)))}</ul>` : html`<p class="note">Nobody has booked.</p>`}
      ${waiting.length ? html`<h2 class="over-line">Waiting ${waiting.length}</h2><ul class="people">${waiting.map((one) => person(one, html`<span class="soft">${one.waitlist_position}</span>`))}</ul>` : nothing}`;
  }
}
customElements.define("desk-week", Week);
