// The pages of each role, their letters after `g`, and what the palette can do besides opening them.
import { empty, html } from "../ui/element.js";
import { newMember } from "../desk/members.js";
import { chooseStudio } from "./studio.js";
import { newStudio } from "./studios.js";
import "../desk/today.js";
import "../desk/week.js";
import "./audit.js";
import "./deliveries.js";
import "./partners.js";
import "./system.js";
import "./team.js";

const PAGES = [
  { name: "today", role: "staff", group: "", title: "Today", icon: "today", key: "t", render: (app, route) => html`<desk-today class="fill" .app=${app} .route=${route}></desk-today>` },
  { name: "week", role: "staff", group: "", title: "Week", icon: "schedule", key: "w", render: (app, route) => html`<desk-week class="fill" .app=${app} .route=${{ ...route, query: { ...route.query, location: app.location } }}></desk-week>` },
  { name: "members", role: "staff", group: "", title: "Members", icon: "members", key: "m", render: (app, route) => html`<desk-members class="fill" .app=${app} .route=${route}></desk-members>` },
  { name: "partners", role: "manager", group: "Studio", title: "Partners", icon: "partners", key: "p", render: (app, route) => (route.parts.length ? html`<ops-client .app=${app} .route=${route}></ops-client>` : html`<ops-partners .app=${app} .route=${route}></ops-partners>`) },
  { name: "deliveries", role: "manager", group: "Studio", title: "Deliveries", icon: "deliveries", key: "d", render: (app, route) => html`<ops-deliveries class="fill" .app=${app} .route=${route}></ops-deliveries>` },
  { name: "transfer", role: "manager", group: "Studio", title: "Import & export", icon: "files", key: "i", render: (app, route) => html`<ops-transfer .app=${app} .route=${route}></ops-transfer>` },
  { name: "team", role: "manager", group: "Studio", title: "Team", icon: "team", key: "e", render: (app, route) => html`<ops-team .app=${app} .route=${route}></ops-team>` },
  { name: "activity", role: "manager", group: "Studio", title: "Activity", icon: "activity", key: "a", render: (app, route) => html`<ops-audit class="fill" .app=${app} .route=${route} own></ops-audit>` },
  { name: "system", role: "operator", group: "System", title: "System", icon: "system", key: "s", bare: true, render: (app, route) => html`<ops-system .app=${app} .route=${route}></ops-system>` },
  { name: "studios", role: "operator", group: "System", title: "All studios", icon: "studios", key: "l", bare: true, render: (app, route) => html`<ops-studios .app=${app} .route=${route}></ops-studios>` },
  { name: "audit", role: "operator", group: "System", title: "Audit", icon: "audit", key: "u", bare: true, render: (app, route) => html`<ops-audit class="fill" .app=${app} .route=${route}></ops-audit>` },
];
export function pagesOf(app) {
  const roles = ["staff", ...(app.manager ? ["manager"] : []), ...(app.operator ? ["operator"] : [])];
  const none = () => empty("There is no studio yet.", app.operator ? html`<button class="btn main" @click=${() => newStudio(app)}>New studio</button>` : "");
  app.actions = () => [
    ...(app.studio ? [{ text: "New member", hint: "action", icon: "plus", run: () => newMember(app) }, { text: "Check in…", hint: "action", icon: "check", to: "#/today" }] : []),
    ...(app.studios.length > 1 ? [{ text: "Choose another studio", hint: "action", icon: "studios", run: () => chooseStudio(app) }] : []),
    ...(app.operator ? [{ text: "New studio", hint: "action", icon: "plus", run: () => newStudio(app) }] : []),
    { text: "Sign out", hint: "action", icon: "right", run: () => app.signOut() },
  ];
  return PAGES.filter((page) => roles.includes(page.role)).map((page) => ({ ...page, render: (of, route) => (of.studio || page.bare ? page.render(of, route) : none()) }));
}
