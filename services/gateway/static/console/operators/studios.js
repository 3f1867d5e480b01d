// All studios: a row leads to its desk.
import { field, openForm, search } from "../ui/controls.js";
import { avatar, empty, go, href, html, icon, nothing, Piece, pill, toast } from "../ui/element.js";
import { browserZone, inText } from "../ui/time.js";

export function newStudio(app) {
  const slugOf = (text) => text.toLowerCase().normalize("NFKD").replace(/[^a-z0-9]+/g, "-").replace(/^-|-$/g, "");
  openForm("New studio", () => html`${field("Name", html`<input name="name" required data-first maxlength="200" @input=${(event) => { event.target.form.elements.slug.value = slugOf(event.target.value); }}>`)}${field("Short name", html`<input name="slug" required pattern="[a-z0-9\\-]+" maxlength="60">`, { hint: "Small letters, digits and hyphens; for addresses and the command line." })}
    ${field("Time zone", html`<select name="timezone">${["UTC", ...Intl.supportedValuesOf("timeZone")].map((zone) => html`<option ?selected=${zone === browserZone}>${zone}</option>`)}</select>`)}<label class="row"><input type="checkbox" name="test"><span>A test studio</span></label>`, { sheet: true, verb: () => "Create studio", send: async ({ name, slug, timezone, test }) => {
    const made = await app.root.post("/studios", { name: name.value.trim(), slug: slug.value.trim(), timezone: timezone.value, test: test.checked });
    app.studios = [...app.studios, made];
    return () => { app.choose(made); go(href("transfer")); toast(`${made.name} is there. Import its data, or make its first class.`); };
  } });
}
class Studios extends Piece {
  static properties = { app: {}, route: {} };
  render() {
    const q = (this.route.query.q || "").toLowerCase(), rows = this.app.studios.filter((one) => `${one.name} ${one.slug}`.toLowerCase().includes(q));
    const open = (event, one) => { event.preventDefault(); this.app.choose(one); go(href("today")); };
    return html`<div class="sheet-page"><div class="head"><h1 class="grow">All studios</h1>${search("Find a studio", this.route.query.q, (text) => go(href("studios", [], { q: text }), { replace: true }), { each: true })}<button class="btn main" @click=${() => newStudio(this.app)}>${icon("plus")}New studio</button></div>
      ${rows.length ? html`<ul class="list card flush with-avatars">${rows.slice(0, 200).map((one) => html`<li><a class="item" href="?studio=${one.slug || one.id}#/today" @click=${(event) => open(event, one)}>${avatar(one.name, one.id)}<span class="one main-line">${one.name} ${one.test ? pill("test", "idle") : nothing}</span><span class="right">${one.id === this.app.studio?.id ? pill("chosen", "good") : nothing}</span><span class="one two soft">${one.slug || ""} · ${(one.timezone || "").replaceAll("_", " ")}</span><span class="right two faint">since ${inText(one.created_at)}</span></a></li>`)}</ul>` : empty("No studio is called that.", html`<a class="btn" href=${href("studios")}>Show all</a>`)}</div>`;
  }
}
customElements.define("ops-studios", Studios);
