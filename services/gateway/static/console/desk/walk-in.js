// A walk-in: find the member or type a new one, see what they pay with, book and check in.
import { choice, field, openDialog } from "../ui/controls.js";
import { avatar, counted, go, href, html, icon, nothing, pill, problem, skeleton, toast } from "../ui/element.js";
import { clock } from "../ui/time.js";
import { has } from "./acts.js";

// A box that looks for members as one types; `pick(member)` gets the chosen one.
export class MemberSearch {
  constructor(app, redraw) { Object.assign(this, { app, redraw, text: "", found: null, error: null, turn: 0 }); }
  type(text) {
    this.text = text.trim();
    this.error = null;
    const turn = ++this.turn;
    if (this.text.length < 2) { this.found = null; return this.redraw(); }
    setTimeout(async () => {
      if (turn !== this.turn) return;
      try { const page = await this.app.api.get("/members", { q: this.text, limit: 8 }); if (turn === this.turn) this.found = page.data; } catch (error) { if (turn === this.turn) this.error = error; }
      if (turn === this.turn) this.redraw();
    }, 90);
    this.redraw();
  }
  draw(pick, extra = nothing) {
    return html`<label class="search">${icon("search")}<span class="gone">Find a member</span><input data-first type="search" placeholder="Name, email or phone" autocomplete="off" spellcheck="false" @input=${(event) => this.type(event.target.value)} @keydown=${(event) => { if (event.key === "Enter") { event.preventDefault(); if (this.found?.[0]) pick(this.found[0]); } }}></label>
      ${this.error ? problem(this.error) : this.found === null ? html`<p class="faint">${this.text.length < 2 ? "Three letters are enough." : nothing}</p>${this.text.length < 2 ? nothing : skeleton(3)}` : html`<ul class="picks" aria-label="Members">${this.found.map((one) => html`<li><button type="button" class="pick-row" @click=${() => pick(one)}>${avatar(one.name, one.id)}<span class="grow"><strong>${one.name}</strong> <small>${one.email || ""}</small></span><span class="soft">${has(one)}</span></button></li>`)}</ul>${this.found.length ? nothing : html`<p class="soft">No member is called that.</p>`}`}${extra}`;
  }
}

// Somebody stands at the desk, and it is not about a class of today.
export function findMember(app) {
  const open = (one) => { dialog.close(); go(href("members", [one.id])); };
  const search = new MemberSearch(app, () => dialog.redraw());
  const dialog = openDialog("Find a member", () => search.draw(open));
}
export function openWalkIn(app, row, done) {
  let member = null, fresh = null, spots = [], spot = "", error = null, busy = false;
  const search = new MemberSearch(app, () => dialog.redraw());
  const full = row.available_count <= 0;
  if (row.spot_selection_mode && row.spot_selection_mode !== "none") app.api.all(`/classes/${row.id}/spots`, {}, 200).then((page) => { spots = page.rows.filter((one) => one.available); if (row.spot_selection_mode === "required") spot = spots[0]?.id || ""; dialog.redraw(); }, () => {});
  async function book(more, told) {
    busy = true; error = null; dialog.redraw();
    try {
      await app.api.post("/bookings", { class_id: row.id, ...(member ? { member_id: member.id } : { member: fresh }), ...(spot && !more.join_waitlist ? { class_spot_id: spot } : {}), ...more });
      dialog.close();
      toast(told(member ? member.name : `${fresh.first_name} ${fresh.last_name}`));
      done();
    } catch (refused) { error = refused; busy = false; dialog.redraw(); }
  }
  const newPerson = () => {
    const [first = "", ...rest] = search.text.includes("@") ? [] : search.text.split(/\s+/);
    fresh = { first_name: first, last_name: rest.join(" "), email: search.text.includes("@") ? search.text : "" };
    dialog.redraw();
    dialog.querySelector("form input")?.focus();
  };
  const set = (name) => (event) => { fresh[name] = event.target.value.trim(); dialog.redraw(); };
  const ready = () => member || (fresh && fresh.first_name && fresh.last_name && /.@./.test(fresh.email));
  const actions = () => html`<p class="row end">${full
    ? html`<button class="btn" ?disabled=${busy || !ready() || !row.allow_waitlist} @click=${() => book({ join_waitlist: true }, (name) => `${name} waits for ${row.title}.`)}>Add to waitlist</button>${app.manager ? html`<button class="btn main" ?disabled=${busy || !ready()} @click=${() => book({ override_capacity: true, check_in: true }, (name) => `${name} is in. ${row.title} has ${row.capacity + 1} seats.`)}>Raise capacity to ${row.capacity + 1}</button>` : nothing}`
    : html`<button class="btn" ?disabled=${busy || !ready()} @click=${() => book({}, (name) => `${name} is booked.`)}>Only book</button><button class="btn main" data-go ?disabled=${busy || !ready()} @click=${() => book({ check_in: true }, (name) => `${name} is in.`)}>Book and check in</button>`}</p>`;
  const dialog = openDialog(`Walk-in: ${row.title}`, () => html`<p class="soft">${clock(row.start_time)} · ${full ? html`<strong>full</strong>, ${counted(row.capacity, "seat")}` : `${row.available_count} of ${row.capacity} free`}</p>
    ${member ? html`<div class="pick-row chosen">${avatar(member.name, member.id)}<span class="grow"><strong>${member.name}</strong> <small>${member.email || ""}</small></span><button class="link" @click=${() => { member = null; error = null; dialog.redraw(); dialog.querySelector("input")?.focus(); }}>Change</button></div>
        <p class="note">Pays with: <strong>${has(member)}</strong>${member.suspended ? html` ${pill("suspended", "bad")}` : nothing}${member.credits || member.membership_type ? nothing : ". Record a purchase first if the class costs a credit."}</p>`
      : fresh ? html`<form class="stack" @submit=${(event) => event.preventDefault()}>${field("First name", html`<input required .value=${fresh.first_name} @input=${set("first_name")}>`)}${field("Last name", html`<input required .value=${fresh.last_name} @input=${set("last_name")}>`)}${field("Email", html`<input type="email" required .value=${fresh.email} @input=${set("email")}>`)}</form><p><button class="link" @click=${() => { fresh = null; dialog.redraw(); }}>Find a member instead</button></p>`
      : search.draw((one) => { member = one; dialog.redraw(); setTimeout(() => dialog.querySelector("[data-go], .btn.main")?.focus(), 20); }, search.text.length > 1 ? html`<p><button type="button" class="btn" @click=${newPerson}>${icon("plus")}New: ${search.text}</button></p>` : nothing)}
    ${spots.length && (member || fresh) && !full ? field("Spot", choice("Spot", [...(row.spot_selection_mode === "required" ? [] : [["", "Any"]]), ...spots.map((one) => [one.id, one.label])], spot, (id) => { spot = id; })) : nothing}
    ${error ? problem(error) : nothing}${member || fresh ? actions() : nothing}`, { sheet: true });
}
