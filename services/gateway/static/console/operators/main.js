// The operators' console: a token opens a session and is not stored anywhere; the rail depends on its role.
import { Api, session } from "../ui/api.js";
import { confirm, menu } from "../ui/controls.js";
import { counted, failed, html, problem, render, repeat } from "../ui/element.js";
import { redrawShell } from "../ui/app-shell.js";
import { lookup } from "./lookup.js";
import { pagesOf } from "./pages.js";
import { useStudio, wantedStudio } from "./studio.js";
import "../ui/app-shell.js";

const api = new Api("/operator/v1", "\"Authorization: Bearer $STUDIO_TOKEN\"");
const place = document.getElementById("app");
place.replaceChildren();
let left = null; // the front desk of a session that ended before everything was sent

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
    <button class="btn main" ?disabled=${busy}>${busy ? "Signing in…" : "Sign in"}</button></form>
    ${left ? html`<p class="notice">${counted(left.waiting.length, "change")} at the front desk of ${left.studio.name} could not be sent before the session ended. Leave this page open: whoever signs in to ${left.studio.name} next can send or drop what waits.</p>` : ""}${error ? problem(error, null) : ""}</main>`, place);
  place.querySelector("input").focus();
}

// The API refuses what a role may not do; asking it tells the role after a reload, too.
async function open() {
  const may = (path) => api.get(path, { limit: 1 }).then(() => true, (error) => { if (error.status === 403) return false; throw error; });
  const [{ rows: studios }, manager, operator] = await Promise.all([api.all("/studios"), may("/audit"), api.get("/status/history").then(() => true, () => false)]);
  const app = { title: "Operators' console", root: api, studios, operator, manager, role: operator ? "operator" : manager ? "manager" : "staff" };
  app.signOut = async () => {
    const waiting = app.attendance?.waiting || [], names = [...new Set(waiting.map((one) => one.name))].join(", ");
    if (waiting.length && !await confirm(`Sign out and lose ${counted(waiting.length, "change")}?`, `Not sent yet: ${names}. Stay signed in until it is sent, or write the names down.`, "Sign out and lose it")) return;
    try { await session("DELETE"); } catch (error) { return failed(error); }
    api.onEnded = () => {};
    app.attendance?.stop();
    signInPage();
  };
  app.account = () => menu(`Account: ${app.role}`, [["Sign out", () => app.signOut()]]);
  app.keys = [["Space", "check in who has the focus, on Today"], ["A…Z", "filter the roster, on Today"]];
  app.lookup = (text) => lookup(app, text);
  app.choose = (studio) => { useStudio(app, studio); redrawShell(); };
  const again = left && studios.find((one) => one.id === left.studio.id);
  useStudio(app, again || wantedStudio(studios), again ? left : null);
  if (again) left = null;
  // A page begins anew with another studio.
  app.pages = pagesOf(app).map((page) => ({ ...page, render: (of, route) => html`${repeat([`${page.name} ${of.studio?.id}`], (key) => key, () => page.render(of, route))}` }));
  api.onEnded = () => {
    api.onEnded = () => {};
    app.attendance?.hold();
    if (app.attendance?.waiting.length) left = app.attendance;
    else app.attendance?.stop();
    signInPage({ message: "The session has ended. Sign in again." });
  };
  render(html`<st-shell .app=${app}></st-shell>`, place);
}
let retry = 0;
function start() {
  clearTimeout(retry);
  open().catch((error) => {
    if (error.status === 401) return signInPage();
    render(html`<main class="alone" id="view"><h1>Not connected</h1>${problem(error, start)}<p class="soft">You need not sign in again: the console opens by itself as soon as the server can be reached.</p></main>`, place);
    retry = setTimeout(start, 5000);
  });
}
start();
