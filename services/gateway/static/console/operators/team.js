// Team: who has a staff token of this studio.
import { choice, confirm, field, openForm } from "../ui/controls.js";
import { avatar, empty, failed, html, icon, Load, nothing, panel, Piece, pill, toast } from "../ui/element.js";
import { showSecret } from "./keys.js";

const MAY = { staff: "Today, Week and Members", manager: "also partners, deliveries, imports, the team, and waiving fees" };
class Team extends Piece {
  static properties = { app: {}, route: {} };
  connectedCallback() {
    super.connectedCallback();
    this.rows = new Load(this, () => this.app.api.get("/staff-tokens", {}, { signal: this.signal }).then((page) => page.data.toSorted((a, b) => Boolean(a.revoked_at) - Boolean(b.revoked_at) || (a.created_at < b.created_at ? 1 : -1))));
    this.rows.run();
  }
  add() {
    let role = "staff";
    openForm("New staff token", (dialog) => html`${field("Name", html`<input name="name" required maxlength="200" data-first placeholder="Mara, front desk">`, { hint: "It is written into the audit log." })}${field("Role", choice("Role", [["staff", "Staff"], ["manager", "Manager"]], role, (value) => { role = value; dialog.redraw(); }), { hint: MAY[role] })}`, { verb: () => "Issue token", send: async ({ name }) => {
      const made = await this.app.api.post("/staff-tokens", { name: name.value.trim(), role });
      return () => showSecret(`Token of ${made.name}`, made.token, "They sign in with it at this address.", () => this.rows.run());
    } });
  }
  async revoke(row) {
    if (!await confirm(`Revoke the token of ${row.name}?`, "Their sessions end with the next request.", "Revoke it")) return;
    try { await this.app.api.post(`/staff-tokens/${row.id}/revoke`); toast(`The token of ${row.name} is revoked.`); } catch (error) { failed(error); }
    this.rows.run();
  }
  render() {
    return html`<div class="sheet-page"><div class="head"><h1 class="grow">Team</h1><button class="btn main" @click=${() => this.add()}>${icon("plus")}New staff token</button></div>
      ${panel(this.rows, (rows) => html`<ul class="card people team">${rows.map((row) => html`<li class=${row.revoked_at ? "soft" : ""}>${avatar(row.name, row.id)}<span class="grow"><strong>${row.name}</strong> ${pill(row.revoked_at ? "revoked" : row.role, row.revoked_at ? "idle" : row.role === "manager" ? "warn" : "good")}<br><small class="faint"><code>${row.prefix}…</code> · ${row.last_used_at ? html`used <st-time .at=${row.last_used_at}></st-time>` : "never used"}</small></span>${row.revoked_at ? nothing : html`<button class="btn small danger" aria-label="Revoke the token of ${row.name}" @click=${() => this.revoke(row)}>Revoke</button>`}</li>`)}</ul>`, { isEmpty: (rows) => !rows.length, empty: empty("Nobody has a token yet.", html`<button class="btn main" @click=${() => this.add()}>Issue the first</button>`) })}</div>`;
  }
}
customElements.define("ops-team", Team);
