// The six pages, their letters after `g`, and what the palette can do besides opening them.
import { html } from "../vendor/lit.js";
import { redrawShell } from "../ui/app-shell.js";
import { go, href } from "../ui/route.js";
import { endpointSheet } from "./endpoint-sheet.js";
import { Outcomes } from "./outcomes.js";
import { Traffic } from "./traffic.js";
import "./deliveries.js";
import "./endpoints.js";
import "./events.js";
import "./home.js";
import "./requests.js";
import "./schedule.js";
import "./settings.js";

const scoped = (app, scope, page) => (scope && !app.may(scope) ? html`<div class="empty"><p>This session lacks the scope <code>${scope}</code>.</p><p>Make a link with a key that has it.</p></div>` : page());
export function pages(app) {
  Object.assign(app, { traffic: new Traffic(app), outcomes: new Outcomes(app) });
  let failing = 0;
  app.setFailing = (count) => { if (count !== failing) { failing = count; redrawShell(); } };
  app.actions = () => [...(app.may("webhooks:write") ? [{ text: "New endpoint", hint: "action", icon: "plus", run: () => endpointSheet(app, { done: (row) => row && go(href("webhooks")) }) }] : []), { text: "Sign out", hint: "action", icon: "right", run: () => app.signOut() }];
  return [
    { name: "home", group: "", title: "Home", icon: "home", key: "h", render: (of, route) => html`<partner-home .app=${of} .route=${route}></partner-home>` },
    { name: "requests", group: "Debug", title: "Requests", icon: "requests", key: "r", render: (of, route) => html`<partner-requests class="fill" .app=${of} .route=${route}></partner-requests>` },
    { name: "events", group: "Debug", title: "Events", icon: "events", key: "e", scope: "webhooks:read", render: (of, route) => html`<partner-events class="fill" .app=${of} .route=${route}></partner-events>` },
    { name: "webhooks", group: "Debug", title: "Webhooks", icon: "webhooks", key: "w", scope: "webhooks:read", badge: () => (failing ? { text: failing, label: `${failing} failing` } : null),
      render: (of, route) => (route.parts.length ? html`<partner-deliveries class="fill" .app=${of} .route=${route}></partner-deliveries>` : html`<partner-endpoints .app=${of} .route=${route}></partner-endpoints>`) },
    { name: "schedule", group: "Studio", title: "Schedule", icon: "schedule", key: "c", scope: "schedule:read", render: (of, route) => html`<partner-schedule class="fill" .app=${of} .route=${route}></partner-schedule>` },
    { name: "settings", group: "Studio", title: "Settings", icon: "settings", key: "s", render: (of, route) => html`<partner-settings .app=${of} .route=${route}></partner-settings>` },
  ].map((page) => ({ ...page, render: (of, route) => scoped(of, page.scope, () => page.render(of, route)) }));
}
