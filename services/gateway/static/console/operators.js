// The operators' console: a token opens a session and is not stored anywhere.
import { Api, session } from "./api.js";
import { button, field, h, input, section } from "./dom.js";
import { alone, errorBox, frame, guarded, Shell } from "./shell.js";
import * as health from "./operators/health.js";
import * as studios from "./operators/studios.js";
import * as clients from "./operators/clients.js";
import * as imports from "./operators/imports.js";
import * as desk from "./operators/desk.js";
import * as deliveries from "./operators/deliveries.js";
import * as links from "./operators/links.js";
import * as audit from "./operators/audit.js";

const api = new Api("/operator/v1", "\"Authorization: Bearer $STUDIO_TOKEN\"");

function signInPage(problem) {
  const token = input({ type: "password", required: true, autocomplete: "off" });
  const result = h("div", {}, problem && errorBox(problem));
  const signIn = guarded(result, async () => {
    await session("POST", { token: token.value });
    token.value = "";
    document.body.classList.remove("signed-out");
    await open();
  });
  alone("Sign in", section("Who are you?", h("p", {}, "Type the operator token, or a staff token of your studio. The session lasts twelve hours."),
    h("form", { class: "row", onsubmit: (event) => { event.preventDefault(); signIn(event); } }, field("Token", token), button("Sign in", null, { type: "submit", class: "act main" })), result));
}

// Pages that a role may not use are hidden: the API would refuse them anyway.
async function open() {
  const { rows: known } = await api.all("/studios");
  const allowed = async (path) => api.get(path, { limit: 1 }, { quiet: true }).then(() => true, () => false);
  const [operator, manager] = await Promise.all([allowed("/audit"), allowed("/keys")]);
  const pages = { ...(operator && { health }), studios, ...(manager && { clients, imports }), desk, ...(manager && { deliveries, links }), ...(operator && { audit }) };
  document.getElementById("who").textContent = operator ? "operator · every studio" : `${known[0].name} · ${manager ? "manager" : "staff"}`;
  api.onEnded = (error) => signInPage(error);
  new Shell(api, pages, { studios: known, operator, manager }).start();
}

frame();
document.getElementById("sign-out").addEventListener("click", async () => { await session("DELETE"); api.onEnded = () => {}; signInPage(null); });
open().catch((error) => signInPage(error.status === 401 ? null : error));
