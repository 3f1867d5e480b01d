// The operators' console: a token opens a session and is not stored anywhere; the rail depends on its role.
import { html, render, repeat } from "../vendor/lit.js";
import { Api, session } from "../ui/api.js";
import { menu } from "../ui/dialog.js";
import { problem } from "../ui/element.js";
import { redrawShell } from "../ui/app-shell.js";
import { lookup } from "./lookup.js";
import { pagesOf } from "./pages.js";
import { useStudio, wantedStudio } from "./studio.js";
import "../ui/app-shell.js";

const api = new Api("/operator/v1", "\"Authorization: Bearer $STUDIO_TOKEN\"");
const place = document.getElementById("app");
place.replaceChildren();

function signInPage(error = null, busy = false) {
  const send = async (event) => {
    event.preventDefault();
    const token = event.target.elements.token.value.trim();
    signInPage(null, true);
    try {
      await session("POST", { token });
      await open();
    } catch (refused) { signInPage(refused); }
  };
  render(html`<main class="alone" id="view"><h1 tabindex="-1">Sign in</h1><p>Type the operator token, or a staff token of your studio. The session lasts twelve hours.</p>
    <form class="row" @submit=${send}><label class="search grow"><span class="gone">Token</span><input name="token" type="password" required autocomplete="off" placeholder="Token" autofocus></label>
    <button class="btn main" ?disabled=${busy}>${busy ? "Signing in…" : "Sign in"}</button></form>${error ? problem(error, null) : ""}</main>`, place);
  place.querySelector("input").focus();
}

// The API refuses what a role may not do; asking it tells the role after a reload, too.
async function open() {
  const may = (path) => api.get(path, { limit: 1 }, { quiet: true }).then(() => true, (error) => { if (error.status === 403) return false; throw error; });
  const [{ rows: studios }, manager, operator] = await Promise.all([api.all("/studios"), may("/audit"), api.get("/status/history", {}, { quiet: true }).then(() => true, () => false)]);
  const app = { title: "Operators' console", root: api, studios, operator, manager, role: operator ? "operator" : manager ? "manager" : "staff" };
  app.signOut = async () => { api.onEnded = () => {}; await session("DELETE"); signInPage(); };
  app.account = () => menu(`Account: ${app.role}`, [["Sign out", () => app.signOut()]]);
  app.lookup = (text) => lookup(app, text);
  app.choose = (studio) => { useStudio(app, studio); redrawShell(); };
  useStudio(app, wantedStudio(studios));
  // A page begins anew with another studio.
  app.pages = pagesOf(app).map((page) => ({ ...page, render: (of, route) => html`${repeat([`${page.name} ${of.studio?.id}`], (key) => key, () => page.render(of, route))}` }));
  api.onEnded = (error) => signInPage(error);
  render(html`<st-shell .app=${app}></st-shell>`, place);
}
open().catch((error) => signInPage(error.status === 401 ? null : error));
