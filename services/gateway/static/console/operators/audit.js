// What people did, as sentences, newest first: of one studio (Activity), or of all (Audit).
import { facts, split } from "../ui/detail-pane.js";
import { avatar, copyChip, empty, go, href, html, nothing, Piece, withQuery } from "../ui/element.js";
import { choice } from "../ui/controls.js";
import { poll } from "../ui/live.js";
import { clock, dayWord } from "../ui/time.js";
import { hasPage, openTarget } from "./lookup.js";

const FAMILIES = [["", "Everything"], ["bookings.", "Bookings"], ["classes.", "Classes"], ["waitlist.", "Waitlist"], ["members.", "Members"], ["memberships.", "Memberships"], ["purchases.", "Purchases"], ["keys.", "Keys"], ["clients.", "Partners"], ["staff-tokens.", "Team"], ["webhook-", "Webhooks"], ["import", "Imports"], ["studios.", "Studios"]];
// The names of a sentence stand out.
export function told(entry) {
  const rest = entry.sentence.startsWith(entry.actor_name) ? entry.sentence.slice(entry.actor_name.length) : ` ${entry.sentence}`;
  const at = entry.target_name ? rest.lastIndexOf(entry.target_name) : -1;
  const [name, ...of] = (entry.target_name || "").split(" · ");
  return html`<strong>${entry.actor_name}</strong>${at < 0 ? rest : html`${rest.slice(0, at)}<strong>${name}</strong>${of.length ? ` · ${of.join(" · ")}` : ""}${rest.slice(at + entry.target_name.length)}`}`;
}
class Audit extends Piece {
  static properties = { app: {}, route: {}, own: { type: Boolean } };
  connectedCallback() {
    super.connectedCallback();
    this.people = new Map();
    poll(async () => Boolean(this.list?.items) && this.list.prepend((await this.load()).data), this.signal, { fast: 5, slow: 30 });
  }
  get list() { return this.querySelector("st-list"); }
  get page() { return this.own ? "activity" : "audit"; }
  // A family of actions is no filter of the API: rows are passed over until some fit.
  async load(cursor) {
    const { family = "", actor, studio } = this.route.query;
    for (let round = 0; ; round += 1) {
      const page = await this.app.root.get("/audit", { order: "desc", limit: 100, cursor, actor, studio: this.own ? this.app.studio.id : studio }, { signal: this.signal });
      for (const row of page.data) this.people.set(row.actor, row.actor_name);
      const data = page.data.filter((row) => row.action.startsWith(family));
      if (data.length || !page.next_cursor || round === 8) { this.requestUpdate(); return { data, next_cursor: page.next_cursor }; }
      cursor = page.next_cursor;
    }
  }
  willUpdate(changed) {
    if (!changed.has("route")) return;
    const { family, actor, studio } = this.route.query, wanted = JSON.stringify([family, actor, studio]);
    if (this.wanted !== undefined && wanted !== this.wanted) this.updateComplete.then(() => this.list?.reload());
    this.wanted = wanted;
  }
  render() {
    const { query } = this.route, [id] = this.route.parts, pick = (changes) => go(withQuery({ ...this.route, parts: [] }, changes)), entry = this.list?.items?.find((row) => row.id === id);
    const side = html`<div class="side-head"><h1>${this.own ? "Activity" : "Audit"}</h1><div class="row filters">${choice("Who", [["", "Everybody"], ...[...this.people].map(([actor, name]) => [actor, name])], query.actor || "", (actor) => pick({ actor }))}${choice("What", FAMILIES, query.family || "", (family) => pick({ family }))}</div>${this.own || this.app.studios.length < 2 ? nothing : choice("Studio", [["", "Every studio"], ...this.app.studios.map((one) => [one.id, one.name])], query.studio || "", (studio) => pick({ studio }))}</div>
      <st-list class="with-avatars" label=${this.own ? "Activity" : "Audit"} .load=${(cursor) => this.load(cursor)} .to=${(row) => href(this.page, [row.id], query)} .selected=${id} .group=${(row) => dayWord(row.at)} @loaded=${() => this.requestUpdate()}
        .row=${(row) => html`${avatar(row.actor_name, row.actor)}<span class="one wrap whole">${told(row)}</span><span class="one two faint">${row.actor_role}${row.studio_name && !this.own ? ` · ${row.studio_name}` : ""}</span><span class="right two faint"><st-time .at=${row.at}></st-time></span>`}
        .none=${empty("Nobody has done anything that fits.", html`<a class="btn" href=${href(this.page)}>Show everything</a>`)}></st-list>`;
    const pane = entry ? html`<h1>${told(entry)}</h1><p class="soft">${dayWord(entry.at)} ${clock(entry.at)}</p>${facts([["Who", html`${entry.actor_name} <span class="soft">${entry.actor_role}</span>`], ["What", html`<code>${entry.action}</code>`], ["Studio", entry.studio_name], ["Target", entry.target ? html`${hasPage(entry) ? html`<button class="link" @click=${() => openTarget(this.app, entry)}>${entry.target_name || "Open"}</button>` : entry.target_name || nothing} ${entry.target !== entry.target_name ? copyChip(entry.target, "target's id") : nothing}` : null], ["Request", entry.request_id && copyChip(entry.request_id, "request's id")], ["At", html`<st-time .at=${entry.at}></st-time> ${copyChip(entry.at, "time", "ISO")}`]])}
      <p class="row acts"><button class="btn" @click=${() => go(href(this.page, [], { actor: entry.actor }))}>What else ${entry.actor_name} did</button></p>` : null;
    return split({ side, label: "Entry", close: href(this.page, [], query), pane: id ? pane || empty("This entry is not among those shown.") : null, hint: html`<p>Choose an entry.<br><span class="faint">↑ ↓ move · Esc closes</span></p>` });
  }
}
customElements.define("ops-audit", Audit);
