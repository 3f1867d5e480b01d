// Today: the classes of the day at the left, the roster of one at the right. A click on a row checks in.
import { redrawShell } from "../ui/app-shell.js";
import { confirm, menu } from "../ui/controls.js";
import { avatar, counted, empty, failed, go, href, html, icon, Load, nothing, panel, Piece, pill, problem, repeat, seats, skeleton, toast } from "../ui/element.js";
import { poll } from "../ui/live.js";
import { addDays, clock, day, dayName, midnight, relative, zones } from "../ui/time.js";
import { cancelBooking, cancelClass, has, markNoShows, money, tags, waiveFee } from "./acts.js";
import { queueNotes } from "./attendance.js";
import { classList, ends, starts } from "./class-list.js";
import { findMember, openWalkIn } from "./walk-in.js";

const GRACE = 5 * 60000, REST = 60000; // a class that began a moment ago is still the one people come to
const LEFT = ["cancelled", "expired"];

class Today extends Piece {
  static properties = { app: {}, route: {}, filter: { state: true }, most: { state: true } };
  constructor() { super(); this.filter = ""; this.most = 60; this.steps = 0; this.mine = new Set(); this.touched = 0; }
  connectedCallback() {
    super.connectedCallback();
    const { app } = this, options = { signal: this.signal };
    this.lists = new Load(this, async () => Object.fromEntries(await Promise.all(["rooms", "instructors"].map(async (path) => [path, await app.names.map(path)]))));
    this.day = new Load(this, () => this.readDay());
    this.roster = new Load(this, (id) => this.readRoster(id));
    this.lists.run();
    // A minute without network goes on with what was read last, also after another page.
    if (app.kept.of === this.scope) this.day.value = app.kept.day;
    this.day.run().then(() => { this.open(); this.told(); });
    // Three requests a minute while nothing happens: the roster alone, the day at every second turn. A touch makes it quick again.
    this.nudge = poll(() => this.refresh(), this.signal, { fast: 4, slow: 45 });
    this.addEventListener("pointerdown", () => { this.touched = Date.now(); this.nudge(); }, options);
    app.attendance.addEventListener("change", ({ row }) => this.answered(row), options);
    window.addEventListener("desk-location", () => { this.day.clear(); this.day.run().then(() => this.open()); }, options);
    window.addEventListener("st-zone", () => { if (this.readIn !== this.scope) this.day.run(); }, options);
    document.addEventListener("keydown", (event) => this.onKey(event), { signal: this.signal, capture: true });
    const ticking = setInterval(() => { this.requestUpdate(); redrawShell(); }, 20000);
    this.signal.addEventListener("abort", () => clearInterval(ticking));
  }
  get scope() { return `${day(Date.now())} ${zones.current} ${this.app.location}`; }
  updated() {
    const { kept } = this.app, { value } = this.roster;
    if (kept.of !== this.scope) Object.assign(kept, { of: this.scope, day: undefined, rosters: new Map() });
    if (this.day.value && this.readIn) kept.day = this.day.value;
    if (value) kept.rosters.set(value.id, value);
  }
  told() { this.app.attendance.offline(Boolean((this.day.error || this.roster.error)?.offline)); }
  async readDay() {
    const { api } = this.app, today = day(Date.now()), options = { signal: this.signal };
    const begin = midnight(today);
    this.readIn = this.scope;
    const [{ rows }, { rows: cancelled }] = await Promise.all([
      api.all("/classes", { starts_after: new Date(begin - 1).toISOString(), starts_before: midnight(addDays(today, 2)).toISOString(), location_id: this.app.location }, 400, options),
      api.all("/bookings", { cancelled_since: new Date(begin - 3 * 86400000).toISOString() }, 400, options)]);
    const waiting = new Map();
    if (rows.some((row) => row.allow_waitlist && !row.available_count)) for (const one of (await api.all("/waitlist", { status: "waiting" }, 2000, options)).rows) waiting.set(one.class_id, (waiting.get(one.class_id) || 0) + 1);
    return { today: rows.filter((row) => day(row.start_time) === today), tomorrow: rows.filter((row) => day(row.start_time) !== today), late: cancelled.filter((row) => row.late_cancel && row.receipt), waiting };
  }
  async readRoster(id) {
    const { api } = this.app, options = { signal: this.signal };
    const [{ rows }, row] = await Promise.all([api.all(`/classes/${id}/roster`, {}, 1000, options), this.find(id) || api.get(`/classes/${id}`, {}, options)]);
    const known = this.roster.value?.id === id ? this.roster.value.entries : new Map(), waiting = rows.filter((one) => one.status === "waitlisted");
    const entries = waiting.every((one) => known.has(one.member_id)) ? known : new Map((await api.all("/waitlist", { class_id: id, status: "waiting" }, 400, options)).rows.map((one) => [one.member_id, one.id]));
    return { id, row, people: rows, entries };
  }
  find(id) { return [...(this.day.value?.today || []), ...(this.day.value?.tomorrow || [])].find((row) => row.id === id); }
  // The class of the address, else the one that people come to now.
  get chosen() {
    const rows = (this.day.value?.today || []).filter((row) => row.status !== "cancelled"), now = Date.now();
    return this.route.parts[0] || (rows.find((row) => starts(row) > now - GRACE) || rows.findLast((row) => ends(row) > now) || rows.at(-1))?.id;
  }
  get row() { return this.find(this.roster.value?.id) || this.roster.value?.row; }
  open({ focus = true } = {}) {
    const id = this.chosen;
    if (id === this.shownId) return;
    this.shownId = id;
    this.filter = "";
    this.roster.clear();
    if (id) this.roster.run(id).then(async () => { if (this.roster.error?.offline) this.roster.value ??= this.app.kept.rosters.get(id); this.told(); await this.updateComplete; if (focus && !document.activeElement?.closest("input, dialog, .rail")) this.rows[0]?.focus({ preventScroll: true }); });
  }
  // By the address; or as soon as there is a day, after a first try that failed.
  willUpdate(changed) {
    const moved = changed.has("route") && this.hasUpdated;
    if (this.day?.value && (moved || !this.shownId)) this.open({ focus: !moved || Boolean(this.route.parts[0]) });
  }
  async refresh() {
    const mark = () => JSON.stringify([this.roster.value?.people.map((one) => [one.id, one.status]), this.day.value?.today.map((row) => [row.id, row.booked_count, row.capacity, row.status]), this.day.value?.late.length]);
    const before = mark();
    this.steps += 1;
    if (this.day.error || this.steps % 2 || this.readIn !== this.scope) await this.day.run();
    // The next class opens by itself, but never under a hand that is about to press.
    if (!this.route.parts[0] && this.chosen !== this.shownId && Date.now() - this.touched > REST && !this.filter && !document.querySelector("dialog[open]")) this.open();
    if (this.shownId) await this.reread();
    this.told();
    if (this.app.attendance.waiting.length) this.app.attendance.send();
    return Boolean(this.day.error || this.roster.error) || before !== mark();
  }
  async reread() {
    const before = this.roster.value;
    await this.roster.run(this.shownId);
    const now = this.roster.value;
    if (!before || now === before || before.id !== now.id) return;
    // Who got a seat without anybody here giving it.
    const was = new Map(before.people.map((one) => [one.id, one.status]));
    const seated = ["confirmed", "checked_in"], gone = before.people.filter((one) => seated.includes(one.status) && !now.people.some((other) => other.id === one.id && !LEFT.includes(other.status)));
    for (const one of now.people.filter((person) => person.status === "confirmed" && was.get(person.id) === "waitlisted")) {
      if (this.mine.delete(one.id)) continue;
      const giver = gone.shift();
      toast(giver ? `${one.member_name} got the seat that ${giver.member_name} gave back.` : `${one.member_name} got a seat.`, { seconds: 8 });
    }
  }
  answered(row) {
    const { value } = this.roster;
    if (row?.status && value) this.roster.turn += 1; // a roster that is on its way was read before this
    if (row?.status && value) this.roster.set({ ...value, people: value.people.map((one) => (one.id === row.id ? { ...one, status: row.status, checked_in_at: row.status === "checked_in" ? one.checked_in_at || row.updated_at : null } : one)) });
    else if (row) this.nudge(true);
    this.requestUpdate();
  }
  get people() { return (this.roster.value?.people || []).map((one) => this.app.attendance.seen(one)); }
  get rows() { return [...this.querySelectorAll("button.person")]; }
  checkIn(one, pressed) {
    const at = this.rows.indexOf(pressed);
    this.app.attendance.mark(one, "check-in");
    toast(`${one.member_name} is in.`, { action: { label: "Undo", run: () => this.undo(one) } });
    this.filter = "";
    this.nudge();
    if (at >= 0) this.updateComplete.then(() => (this.rows[Math.min(at, this.rows.length - 1)] || this.querySelector(".pane"))?.focus({ preventScroll: true }));
  }
  undo(one) { const now = this.people.find((other) => other.id === one.id); if (now && now.status !== "confirmed") this.app.attendance.mark(now, "undo-check-in"); }
  onKey(event) {
    this.touched = Date.now();
    if (event.ctrlKey || event.metaKey || event.altKey || document.querySelector("dialog[open]")) return;
    const box = this.querySelector(".roster-filter input"), inside = event.target.closest?.(".desk-pane"), typing = event.target.closest?.("input, select, textarea");
    if (event.key === "Escape" && (this.filter || event.target === box)) { event.stopPropagation(); this.filter = ""; this.updateComplete.then(() => this.rows[0]?.focus()); return; }
    if (event.key === "Enter" && event.target === box) { event.preventDefault(); this.rows[0]?.click(); return; }
    // `g` and a letter opens a page here, too, unless somebody on the roster is called that.
    const named = (text) => this.people.some((one) => one.member_name.toLowerCase().split(/\s+/).some((part) => part.startsWith(text)));
    const page = event.target === box && this.filter === "g" && !named(`g${event.key}`) && this.app.pages.find((one) => one.key === event.key);
    if (page) { event.preventDefault(); this.filter = ""; return go(href(page.name)); }
    if (!inside || (typing && event.target !== box)) return;
    if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      const rows = this.rows, at = rows.indexOf(document.activeElement);
      const next = rows[event.target === box ? 0 : Math.max(0, Math.min(rows.length - 1, at + (event.key === "ArrowDown" ? 1 : -1)))];
      if (next) { event.preventDefault(); event.stopPropagation(); next.focus(); }
    } else if (!typing && box && /^[\p{L}]$/u.test(event.key)) { event.stopPropagation(); event.preventDefault(); this.filter += event.key; box.focus(); }
  }
  async act(step) { try { return await step(); } catch (error) { failed(error); return null; } finally { this.day.run(); this.nudge(true); } }
  setCapacity(row, capacity) { return this.act(async () => { const now = await this.app.api.patch(`/classes/${row.id}`, { capacity }); this.roster.value.row = now; this.day.value.today = this.day.value.today.map((one) => (one.id === now.id ? now : one)); toast(`${row.title} has ${counted(capacity, "seat")}.`); }); }
  async promote(one, row) {
    const full = row.available_count <= 0;
    if (full && !await confirm(`Raise to ${row.capacity + 1} seats?`, `${row.title} is full. ${one.member_name} gets a seat more.`, `Raise to ${row.capacity + 1} and promote`, { danger: false })) return;
    this.mine.add(one.id);
    await this.act(async () => { await this.app.api.post(`/waitlist/${this.roster.value.entries.get(one.member_id)}/promote`, full ? { override_capacity: true } : {}); toast(`${one.member_name} has a seat.`); });
  }
  async skip(one) { return await confirm(`Take ${one.member_name} off the waitlist?`, "They lose their place and have to join again.", "Take off") && this.act(async () => { await this.app.api.post(`/waitlist/${this.roster.value.entries.get(one.member_id)}/skip`); toast(`${one.member_name} no longer waits.`); }); }
  // The right side.
  person(one, row) {
    const inside = one.status === "checked_in", queued = this.app.attendance.waiting.some((other) => other.id === one.id);
    const body = html`${avatar(one.member_name, one.member_id)}<span class="who"><span class="row tight"><strong>${one.member_name}</strong>${tags(one)}</span><small>${has(one)}</small></span>`;
    const acts = menu(`More for ${one.member_name}`, [["Open member", () => { location.hash = href("members", [one.member_id]); }], !inside && one.status === "confirmed" && starts(row) <= Date.now() && ["No-show", () => this.app.attendance.mark(one, "no-show")], !inside && one.status !== "no_show" && ["Cancel booking…", () => cancelBooking(this.app, one, row).then((did) => did && this.act(() => {})), true]]);
    return html`<li class="person-row ${inside ? "in" : ""}">${inside
      ? html`<div class="person">${body}<span class="pill good"><span aria-hidden="true">✓</span> In ${one.checked_in_at ? clock(one.checked_in_at) : ""}${queued && this.app.attendance.offlineSince ? " · waits" : ""}</span><button class="link" aria-label="Undo the check-in of ${one.member_name}" @click=${() => this.undo(one)}>Undo</button></div>`
      : html`<button class="person" aria-label="Check in ${one.member_name}" @click=${(event) => this.checkIn(one, event.currentTarget)}>${body}<span class="btn" aria-hidden="true">Check in</span></button>`}${acts}</li>`;
  }
  pane() {
    const { value } = this.roster, row = this.row, { app } = this, now = Date.now();
    if (!value || !row) return this.roster.error ? problem(this.roster.error, () => this.roster.run(this.shownId)) : skeleton(8);
    const all = this.people, seated = all.filter((one) => ["confirmed", "checked_in", "no_show"].includes(one.status)), inside = seated.filter((one) => one.status === "checked_in");
    const waiting = all.filter((one) => one.status === "waitlisted").sort((a, b) => a.waitlist_position - b.waitlist_position), rest = seated.filter((one) => one.status === "confirmed");
    const holding = all.filter((one) => one.status === "held").sort((a, b) => a.held_until.localeCompare(b.held_until));
    const words = this.filter.toLowerCase().split(/\s+/).filter(Boolean), fits = (one) => words.every((word) => one.member_name.toLowerCase().split(/\s+/).some((part) => part.startsWith(word)));
    const shown = seated.filter(fits).sort((a, b) => (a.status === "checked_in") - (b.status === "checked_in") || a.member_name.localeCompare(b.member_name));
    const late = (this.day.value?.late || []).filter((one) => one.class_id === row.id), gone = row.status === "cancelled", free = Math.max(0, row.available_count), taken = seated.filter((one) => one.status !== "no_show").length;
    const { rooms, instructors } = this.lists.value || {}, began = starts(row) <= now;
    return html`<div class="desk-head"><div class="grow"><h1>${row.title} ${gone ? pill("cancelled") : nothing}</h1><p class="soft">${day(row.start_time) === day(now) ? "" : `${dayName(row.start_time)} · `}${clock(row.start_time)} – ${clock(row.end_time)}${rooms?.get(row.room_id) ? ` · ${rooms.get(row.room_id).name}` : ""}${instructors?.get(row.instructor_id) ? ` · with ${instructors.get(row.instructor_id).name}` : ""}</p></div>
        ${gone ? nothing : html`<div class="row acts-right"><div class="stepper" role="group" aria-label="Seats"><button aria-label="One seat fewer" ?disabled=${row.capacity <= taken} @click=${() => this.setCapacity(row, row.capacity - 1)}>−</button><span>${counted(row.capacity, "seat")}</span><button aria-label="One seat more" @click=${() => this.setCapacity(row, row.capacity + 1)}>+</button></div>
        <button class="btn main" @click=${() => openWalkIn(app, row, () => this.act(() => {}))}>${icon("plus")}Walk-in</button>${menu("More for this class", [["Open in week", () => { location.hash = href("week", [], { day: day(row.start_time), class: row.id }); }], ["Cancel class…", () => cancelClass(app, row).then((did) => did && this.act(() => {})), true]])}</div>`}</div>
      <p class="row meter-line"><span class="seat-meter">${seats(taken, row.capacity, inside.length)}</span><span class="soft">${inside.length} of ${taken} in · ${free} free${holding.length ? ` · ${holding.length} held` : ""}${waiting.length ? ` · ${waiting.length} waiting` : ""}</span><span class="grow"></span>
        <label class="search roster-filter ${taken > 6 || this.filter ? "" : "gone"}">${icon("search")}<span class="gone">Filter the roster</span><input type="search" data-search placeholder="Filter" autocomplete="off" tabindex=${taken > 6 || this.filter ? "0" : "-1"} .value=${this.filter} @input=${(event) => { this.filter = event.target.value; }}></label></p>
      ${shown.length ? html`<ul class="roster" aria-label="Roster">${repeat(shown, (one) => one.id, (one) => this.person(one, row))}</ul>` : seated.length ? html`<p class="note">Nobody on this roster is called that. <button class="link" @click=${() => { this.filter = ""; }}>Show all</button></p>` : gone ? nothing : empty("Nobody has booked yet.", html`<button class="btn" @click=${() => openWalkIn(app, row, () => this.act(() => {}))}>Book a walk-in</button>`)}
      ${began && rest.length && !gone ? html`<p class="row"><button class="btn" @click=${() => markNoShows(app, rest)}>Mark the other ${rest.length} as no-show</button></p>` : nothing}
      ${holding.length ? html`<h2 class="over-line">Held while they pay</h2><ul class="roster" aria-label="Held seats">${holding.map((one) => html`<li class="person-row"><div class="person">${avatar(one.member_name, one.member_id)}<span class="who"><span class="row tight"><strong>${one.member_name}</strong>${tags(one)}</span><small>until ${clock(one.held_until)} · ${has(one)}</small></span>
        <button class="btn" aria-label="Release the seat of ${one.member_name}" @click=${() => cancelBooking(this.app, one, row).then((did) => did && this.act(() => {}))}>Release…</button></div></li>`)}</ul>` : nothing}
      ${waiting.length ? html`<h2 class="over-line">Waiting</h2><ul class="roster" aria-label="Waitlist">${repeat(waiting, (one) => one.id, (one) => html`<li class="person-row"><div class="person"><span class="place num">${one.waitlist_position}</span>${avatar(one.member_name, one.member_id)}<span class="who"><span class="row tight"><strong>${one.member_name}</strong>${tags(one)}</span><small>joined ${relative(one.created_at, now)} · ${has(one)}</small></span>
        <button class="btn" aria-label="Promote ${one.member_name}" title=${free ? "" : app.manager ? "Raises the capacity by one" : "No seat is free"} ?disabled=${!free && !app.manager} @click=${() => this.promote(one, row)}>Promote</button><button class="btn" aria-label="Skip ${one.member_name}" @click=${() => this.skip(one)}>Skip</button></div></li>`)}</ul>` : nothing}
      ${late.length ? html`<h2 class="over-line">Late cancels</h2><ul class="roster" aria-label="Late cancels">${late.map((one) => html`<li class="person-row"><div class="person">${avatar(one.member_name, one.member_id)}<span class="who"><span class="row tight"><strong>${one.member_name}</strong><span class="pill warn">${clock(one.receipt.cancelled_at)} · late</span></span><small>${[one.receipt.late_fee_amount ? `${money(one.receipt)} ${one.receipt.late_fee_status === "waived" ? "waived" : "fee"}` : "no fee", one.receipt.credits_forfeited ? `${one.receipt.credits_forfeited} credit${one.receipt.credits_forfeited === 1 ? "" : "s"} forfeited` : null].filter(Boolean).join(" · ")}</small></span>
        ${app.manager && one.receipt.late_fee_status === "assessed" ? html`<button class="btn" aria-label="Waive the fee of ${one.member_name}" @click=${() => waiveFee(app, one).then((did) => did && this.act(() => {}))}>Waive…</button>` : nothing}</div></li>`)}</ul>` : nothing}`;
  }
  right() {
    if (this.shownId) return this.pane();
    if (!this.day.value) return this.day.error ? nothing : skeleton(8); // what is wrong is said at the left
    return empty("No class is left today.", html`<a class="btn" href=${href("week")}>Open the week</a>`);
  }
  render() {
    const { value } = this.day;
    return html`<div class="desk ${this.route.parts[0] ? "open" : ""}"><section class="desk-side"><button class="btn wide-btn" @click=${() => findMember(this.app)}>${icon("search")}Find a member</button>${value ? html`${this.day.error && !this.app.attendance.offlineSince ? html`<p class="stale" role="status">Paused: ${this.day.error.message}</p>` : nothing}${classList({ value, rooms: this.lists.value?.rooms, chosen: this.shownId, most: this.most, showAll: () => { this.most = Infinity; } })}` : panel(this.day, () => nothing)}</section>
      <section class="pane desk-pane" tabindex="-1" aria-label="Roster">${queueNotes(this.app.attendance)}${this.route.parts[0] ? html`<a class="back only-phone" data-close href=${href("today")}>${icon("left")}Today</a>` : nothing}${this.right()}</section></div>`;
  }
}
customElements.define("desk-today", Today);
