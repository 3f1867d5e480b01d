// The partner console: signs in with the link's token, then shows the pages.
import { Api, session } from "../ui/api.js";
import { html, problem, render } from "../ui/element.js";
import { Follower } from "../ui/live.js";
import { setZone } from "../ui/time.js";
import "../ui/app-shell.js";
import { Names } from "./names.js";
import { lookup } from "./lookup.js";
import { pages } from "./pages.js";

const api = new Api("/partner/v1", "\"X-Service-Key: $STUDIO_KEY\"");
const place = document.getElementById("app");
place.replaceChildren();
const alone = (title, ...parts) => render(html`<main class="alone" id="view"><h1 tabindex="-1">${title}</h1>${parts}
  <p>Your server makes a link to this console with <code>POST /partner/v1/console-sessions</code>; whoever runs the studio makes one with <code>studioctl console --client CLIENT</code>.</p><p><a href="/docs">Open the reference</a></p></main>`, place);

async function signIn() {
  const token = new URLSearchParams(location.hash.replace(/^#/, "")).get("token");
  if (token === null) return null;
  // Out of the address before anything else happens: it must not stay in the history.
  history.replaceState(null, "", "/console");
  return session("POST", { token });
}

async function open() {
  try {
    const signedIn = await signIn();
    api.onEnded = () => {};
    const key = await api.get("/key");
    const may = (scope) => key.scopes.includes(scope);
    const studio = may("studio:read") ? await api.get("/studio").catch(() => null) : null;
    setZone({ studio: (studio && studio.timezone) || "UTC" });
    const app = { title: "Studio console", api, key, may, studio, signedIn, brand: () => (studio ? studio.name : key.name), names: new Names(api, may) };
    if (may("webhooks:read")) app.follower = new Follower(api, key.id);
    app.signOut = async () => { await session("DELETE"); alone("Signed out", html`<p>The session is over.</p>`); };
    Object.assign(app, { pages: pages(app), lookup: (text) => lookup(app, text) });
    api.onEnded = (error) => { alone("The session has ended", html`<p>${error.message}</p>`); };
    render(html`<st-shell .app=${app}></st-shell>`, place);
  } catch (error) {
    const plain = error.code === "missing_api_key" ? html`<p>You need a link to open this console.</p>` : problem(error, error.status === 401 ? null : () => location.reload());
    alone("Not signed in", plain);
  }
}
open();
