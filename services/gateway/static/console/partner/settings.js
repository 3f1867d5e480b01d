// Settings: the key of this session, what it may do and how much, and the end of the session.
import { facts } from "../ui/detail-pane.js";
import { copyChip, html, icon, Load, meter, nothing, panel, Piece } from "../ui/element.js";

const AREAS = { studio: "Studio and locations", schedule: "Schedule", catalog: "Products", members: "Members", purchases: "Purchases", bookings: "Bookings", forms: "Forms", form_submissions: "Filled-in forms", leads: "Leads", webhooks: "Webhooks and events" };
const VERBS = ["read", "write", "cancel"];

class Settings extends Piece {
  static properties = { app: {}, route: {} };
  connectedCallback() {
    super.connectedCallback();
    const { app } = this;
    this.places = new Load(this, () => app.names.list("locations"));
    this.traffic = new Load(this, () => app.traffic.of("1h", this.signal));
    if (app.may("studio:read")) this.places.run();
    this.traffic.run();
  }
  scopes() {
    const { scopes } = this.app.key;
    const areas = [...new Set([...Object.keys(AREAS), ...scopes.map((scope) => scope.split(":")[0])])];
    const named = (verb, area, has) => html`<td>${has ? html`<span class="good" role="img" aria-label="${AREAS[area] || area}: may ${verb}">${icon("check")}</span>` : html`<span class="faint" aria-label="no" role="img">–</span>`}</td>`;
    return html`<div class="table-wrap"><table><thead><tr><th scope="col">Area</th>${VERBS.map((verb) => html`<th scope="col">${verb}</th>`)}</tr></thead>
      <tbody>${areas.map((area) => html`<tr><th scope="row">${AREAS[area] || area} <code class="faint">${area}</code></th>${VERBS.map((verb) => named(verb, area, scopes.includes(`${area}:${verb}`)))}</tr>`)}</tbody></table></div>`;
  }
  render() {
    const { app } = this, { key } = app;
    const limit = key.rate_limit.requests_per_second;
    return html`<div class="sheet-page"><div class="head"><h1>Settings</h1></div><div class="two-columns"><div class="stack">
      <section class="card"><h2>Key</h2>${facts([
        ["Name", html`<strong>${key.name}</strong>`], ["Starts with", key.prefix && html`<code>${key.prefix.slice(0, 14)}…</code>`], ["Key", copyChip(key.id, "key's id")], ["Client", html`${key.client_name || nothing} ${copyChip(key.client_id, "client's id")}`],
        ["Studio", html`${app.studio ? app.studio.name : nothing} ${copyChip(key.studio_id, "studio's id")}`],
        ["Locations", key.location_ids === null ? "All" : this.places.value ? this.places.value.filter((row) => key.location_ids.includes(row.id)).map((row) => row.name).join(", ") : `${key.location_ids.length}`],
        ["Expires", key.expires_at === null ? "Never" : html`<st-time .at=${key.expires_at}></st-time>`]])}</section>
      <section class="card"><h2>Limits</h2><p class="soft">${limit} requests a second, ${key.rate_limit.burst} at once, shared by all keys of the client.</p>
        ${panel(this.traffic, (value) => (html`<p>Busiest minute of the last hour: <strong>${value.peak}</strong> of ${limit} a second</p>${meter(value.peak, limit, `${value.peak} of ${limit} requests a second`, value.peak > limit * 0.8 ? "warn" : "good")}`), { lines: 1 })}
        </section>
      <section class="card"><h2>Session</h2><p class="soft">${app.signedIn ? html`This session ends <st-time .at=${app.signedIn.expires_at}></st-time>.` : "This session ends by itself."} It may do what the key may, and what it asks is not in <em>Requests</em> by default.</p>
        <p><button class="btn" id="sign-out" @click=${() => app.signOut()}>Sign out</button></p>
        <h2>Versions</h2><p class="soft">API version <code>${app.key.api_version || "2026-08-02"}</code> · <a href="/docs">Reference</a> · <a href="/docs#changelog">Changelog</a></p></section>
      </div><section class="card"><h2>Scopes</h2>${this.scopes()}</section></div></div>`;
  }
}
customElements.define("partner-settings", Settings);
