// The partner console: signs in with the link's token, then shows the pages.
import { Api, session } from "./api.js";
import { button, h } from "./dom.js";
import { alone, errorBox, frame, Shell } from "./shell.js";
import * as start from "./pages/start.js";
import * as schedule from "./pages/schedule.js";
import * as webhooks from "./pages/webhooks.js";
import * as events from "./pages/events.js";
import * as requests from "./pages/requests.js";

const api = new Api("/partner/v1", "\"X-Service-Key: $STUDIO_KEY\"");
const WAY = "Ask for a new link with POST /partner/v1/console-sessions, or `studioctl console --client CLIENT`.";

async function signIn() {
  const token = new URLSearchParams(location.hash.replace(/^#/, "")).get("token");
  if (token === null) return;
  // Out of the address before anything else happens: it must not stay in the history.
  history.replaceState(null, "", "/console");
  await session("POST", { token });
}

async function open() {
  frame();
  document.getElementById("sign-out").addEventListener("click", async () => {
    await session("DELETE");
    alone("Signed out", h("p", {}, WAY));
  });
  try {
    await signIn();
    const key = await api.get("/key");
    const may = (scope) => key.scopes.includes(scope);
    const studio = may("studio:read") ? await api.get("/studio") : null;
    const zone = (studio && studio.timezone) || "UTC";
    document.getElementById("who").textContent = `${studio ? studio.name : key.name} · times in ${zone}`;
    api.onEnded = (error) => alone("The session has ended", errorBox(error), h("p", {}, WAY));
    new Shell(api, { start, schedule, webhooks, events, requests }, { key, may, studio, zone }).start();
  } catch (error) {
    alone("Not signed in", errorBox(error), h("p", {}, WAY), button("Try again", () => location.reload()));
  }
}

open();
