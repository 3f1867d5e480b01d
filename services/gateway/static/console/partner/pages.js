// The six pages, their letters after `g`, and what the palette can do besides opening them.
import { html } from "../vendor/lit.js";
import "./settings.js";

const scoped = (app, scope, page) => (scope && !app.may(scope) ? html`<div class="empty"><p>This session lacks the scope <code>${scope}</code>.</p><p>Make a link with a key that has it.</p></div>` : page);
export function pages(app) {
  app.traffic = async () => null;
  return [
    { name: "settings", group: " ", title: "Settings", icon: "settings", key: "s", render: (of, route) => html`<partner-settings .app=${of} .route=${route}></partner-settings>` },
  ].map((page) => ({ ...page, render: (of, route) => scoped(of, page.scope, page.render(of, route)) }));
}
