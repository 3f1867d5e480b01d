// Members: found as one types; a member's page with bookings, memberships, purchases and what can be done.
import { facts, split } from "../ui/detail-pane.js";
import { choice, confirm, field, menu, openForm, search } from "../ui/controls.js";
import { avatar, copyChip, counted, empty, failed, go, href, html, icon, Load, nothing, panel, Piece, pill, toast } from "../ui/element.js";
import { dayAndTime, inText } from "../ui/time.js";
import { cancelBooking, has } from "./acts.js";
import { download } from "../operators/transfer.js";

const SPAN = 90 * 86400000;
class Members extends Piece {
  static properties = { app: {}, route: {} };
  connectedCallback() {
    super.connectedCallback();
    this.one = new Load(this, (id) => this.read(id));
    this.products = new Load(this, () => this.app.names.map("products"));
    this.products.run();
  }
  get list() { return this.querySelector("st-list"); }
  get q() { return this.route.query.q || ""; }
  async read(id) {
    const { api } = this.app, options = { signal: this.signal }, at = `/members/${encodeURIComponent(id)}`;
    const [member, bookings, memberships, purchases] = await Promise.all([api.get(at, {}, options), api.all("/bookings", { member_id: id, starts_after: new Date(Date.now() - SPAN).toISOString(), starts_before: new Date(Date.now() + SPAN).toISOString() }, 400, options), api.all(`${at}/memberships`, {}, 200, options), api.all("/purchases", { member_id: id }, 400, options)]);
    return { member, bookings: bookings.rows, memberships: memberships.rows, purchases: purchases.rows.toReversed() };
  }
  willUpdate(changed) {
    if (!changed.has("route")) return;
    const [id] = this.route.parts;
    if (id !== this.shownId) { this.shownId = id; this.one.clear(); if (id) this.one.run(id); }
    if (this.asked !== undefined && this.asked !== this.q) this.updateComplete.then(() => this.list?.reload({ quiet: true }));
    this.asked = this.q;
  }
  async act(step, told) { try { await step(); if (told) toast(told); } catch (error) { failed(error); } finally { this.one.run(this.shownId); } }
  row(member) { return html`${avatar(member.name, member.id)}<span class="one main-line">${member.name}</span><span class="right">${member.suspended ? pill("suspended", "bad") : nothing}</span><span class="one two soft">${member.email || member.phone || ""}</span><span class="right two faint">${has(member)}</span>`; }
  side() {
    return html`<div class="side-head"><div class="row"><h1 class="grow">Members</h1><button class="btn small" @click=${() => newMember(this.app)}>${icon("plus")}New member</button></div>${search("Name, email or phone", this.q, (q) => go(href("members", this.route.parts, { q }), { replace: true }), { each: true })}</div>
      <st-list class="with-avatars" label="Members" .load=${(cursor) => this.app.api.get("/members", { limit: 50, cursor, ...(this.q.length > 1 ? { q: this.q } : {}) }, { signal: this.signal })} .row=${(row) => this.row(row)} .to=${(row) => href("members", [row.id], { q: this.q })} .selected=${this.shownId}
        .none=${empty(this.q ? "No member is called that." : "No members yet.", html`<button class="btn" @click=${() => newMember(this.app)}>New member</button>`)}></st-list>`;
  }
  async bookInto(member) {
    const { api } = this.app, week = { starts_after: new Date().toISOString(), starts_before: new Date(Date.now() + 7 * 86400000).toISOString(), status: "scheduled" };
    const page = await api.all("/classes", week, 400).catch(failed), rows = page?.rows.filter((row) => row.available_count > 0) || [];
    let chosen = rows[0]?.id;
    if (page && !chosen) toast("No class has a free seat in the next seven days.", { kind: "bad" });
    if (chosen) openForm(`Book ${member.name} into…`, () => field("Class", choice("Class", rows.map((row) => [row.id, `${dayAndTime(row.start_time)} · ${row.title} · ${row.available_count} free`]), chosen, (id) => { chosen = id; })), { verb: () => "Book", send: async () => {
      await api.post("/bookings", { class_id: chosen, member_id: member.id });
      return () => { toast(`${member.name} is booked.`); this.one.run(member.id); };
    } });
  }
  sell(member) {
    const products = [...(this.products.value?.values() || [])].filter((one) => one.active);
    let chosen = products[0];
    if (!chosen) return toast("The studio has no product to sell.", { kind: "bad" });
    const price = (one) => { const found = one.prices.find((row) => row.default) || one.prices[0]; return found ? `${found.amount} ${found.currency}` : "no price"; };
    openForm(`Record a purchase of ${member.name}`, (dialog) => html`${field("Product", choice("Product", products.map((one) => [one.id, `${one.name} · ${price(one)}`]), chosen.id, (id) => { chosen = products.find((one) => one.id === id); dialog.redraw(); }))}<p class="note">${price(chosen)}${chosen.credits_granted ? `, grants ${counted(chosen.credits_granted, "credit")}` : ""}. The money is taken at the till, not here.</p>`, { verb: () => "Record", send: async () => {
      await this.app.api.post("/purchases", { member_id: member.id, product_id: chosen.id });
      return () => { toast(`${chosen.name} is recorded.`); this.one.run(member.id); };
    } });
  }
  async erase(member) {
    if (!await confirm(`Erase ${member.name}?`, "Name, email and phone are removed everywhere, also from events. Bookings and purchases stay, without the person. It cannot be undone.", "Erase", { typed: member.name })) return;
    await this.act(() => this.app.root.post(`/members/${member.id}/erase?studio=${encodeURIComponent(this.app.studio.id)}`), "The member is erased.");
    this.list?.reload({ quiet: true });
  }
  booking(one) {
    const ahead = new Date(one.start_time) > Date.now() && ["confirmed", "waitlisted"].includes(one.status);
    return html`<li><a class="grow plain" href=${href("today", [one.class_id])}>${one.class_title} <span class="soft">${dayAndTime(one.start_time)}</span></a>${one.status === "confirmed" ? nothing : pill(one.status === "waitlisted" && one.waitlist_position ? `waiting, ${one.waitlist_position}` : one.late_cancel ? "cancelled late" : one.status, one.status === "waitlisted" ? "warn" : undefined)}${ahead ? html`<button class="btn small" @click=${async () => { if (await cancelBooking(this.app, one, { title: one.class_title, start_time: one.start_time })) this.one.run(this.shownId); }}>Cancel…</button>` : nothing}</li>`;
  }
  membership(one) {
    const name = this.products.value?.get(one.product_id)?.name || "Membership", post = (verb, told) => this.act(() => this.app.api.post(`/memberships/${one.id}/${verb}`, verb === "resume" ? undefined : {}), told);
    return html`<li><span class="grow">${name} ${pill(one.status)}${one.pause?.resumes_at ? html` <span class="soft">until ${inText(one.pause.resumes_at)}</span>` : nothing}${one.cancellation ? html` <span class="soft">ends ${inText(one.cancellation.effective_at)}</span>` : nothing}</span>
      ${one.status === "active" ? html`<button class="btn small" @click=${() => post("pause", `${name} is paused.`)}>Pause</button>` : one.status === "paused" ? html`<button class="btn small" @click=${() => post("resume", `${name} runs again.`)}>Resume</button>` : nothing}</li>`;
  }
  detail({ member, bookings, memberships, purchases }) {
    const now = Date.now(), ahead = bookings.filter((one) => new Date(one.start_time) > now).sort((a, b) => (a.start_time < b.start_time ? -1 : 1)), past = bookings.filter((one) => new Date(one.start_time) <= now).sort((a, b) => (a.start_time < b.start_time ? 1 : -1));
    const people = (rows, draw, none) => (rows.length ? html`<ul class="people">${rows.map(draw)}</ul>` : html`<p class="note">${none}</p>`);
    return html`<div class="row member-head">${avatar(member.name, member.id)}<div class="grow"><h1>${member.name}</h1><p class="soft">${has(member)}${member.suspended ? html` ${pill("suspended", "bad")}` : nothing}</p></div></div>
      <p class="row acts"><button class="btn main" @click=${() => this.bookInto(member)}>Book into…</button><button class="btn" @click=${() => this.sell(member)}>Record purchase</button>${this.app.manager ? menu("More for this member", [["Export", () => download(this.app, { member_id: member.id }, `${member.name}.ndjson`)], ["Erase…", () => this.erase(member), true]]) : nothing}</p>
      ${facts([["Email", member.email && html`<a href="mailto:${member.email}">${member.email}</a>`], ["Phone", member.phone], ["Member since", html`<st-time day .at=${member.created_at}></st-time>`], ["Member", copyChip(member.id, "member's id")]])}
      <h2 class="over-line">Upcoming</h2>${people(ahead, (one) => this.booking(one), "Nothing is booked.")}
      ${memberships.length ? html`<h2 class="over-line">Memberships</h2>${people(memberships, (one) => this.membership(one))}` : nothing}
      <h2 class="over-line">Purchases</h2>${people(purchases.slice(0, 20), (one) => html`<li><span class="grow">${this.products.value?.get(one.product_id)?.name || one.product_key}${one.quantity > 1 ? ` × ${one.quantity}` : ""} <span class="soft"><st-time day .at=${one.created_at}></st-time></span></span>${one.amount_total ? html`<span class="num">${one.amount_total} ${one.currency}</span>` : nothing}${one.status && one.status !== "completed" ? pill(one.status) : nothing}</li>`, "Nothing was bought.")}
      <h2 class="over-line">Last 90 days</h2>${people(past.slice(0, 50), (one) => this.booking(one), "No class in the last 90 days.")}`;
  }
  render() { return split({ side: this.side(), label: "Member", close: href("members", [], { q: this.q }), pane: this.shownId ? panel(this.one, (value) => this.detail(value)) : null, hint: html`<p>Choose a member.<br><span class="faint">/ searches · ↑ ↓ move</span></p>` }); }
}
export const newMember = (app) => openForm("New member", () => html`${field("First name", html`<input name="first_name" required>`)}${field("Last name", html`<input name="last_name" required>`)}${field("Email", html`<input name="email" type="email" required>`)}${field("Phone", html`<input name="phone" type="tel" placeholder="+49 40 123456">`)}`, { sheet: true, verb: () => "Add member", send: async (fields) => {
  const typed = ["first_name", "last_name", "email", "phone"].map((name) => [name, fields[name].value.trim()]);
  const made = await app.api.post("/members", Object.fromEntries(typed.filter(([name, value]) => value || name !== "phone")));
  return () => { toast(`${made.name} is a member.`); go(href("members", [made.id])); };
} });
customElements.define("desk-members", Members);
