// Console link: a way into the partner console for a client.
import { button, field, h, section, select } from "../dom.js";
import { guarded, secretBox } from "../shell.js";
import { chosenStudio } from "./choice.js";

export const title = "Console link";

export async function render(view) {
  const { place, api } = view;
  const studio = chosenStudio(view, "links");
  if (!studio) return;
  const { data } = await api.get("/clients", { studio: studio.id });
  if (!data.length) return void place.append(section("Console link", h("p", {}, "The studio has no clients yet.")));
  const client = select(data.map((row) => [row.id, row.name]), data[0].id);
  const life = select([["3600", "an hour"], ["28800", "eight hours"], ["86400", "a day"]], "3600");
  const result = h("div", { role: "status" });
  const make = guarded(result, async () => {
    const { url } = await api.post(`/clients/${client.value}/console-sessions`, { expires_in: Number(life.value) });
    result.replaceChildren(secretBox("Link", url), h("p", {}, "It works once, within ten minutes. Whoever opens it acts as the client."));
  });
  place.append(section("Console link", h("form", { class: "row", onsubmit: (event) => { event.preventDefault(); make(event); } }, field("Client", client), field("The session lasts", life), button("Make a link", null, { type: "submit", class: "act main" })), result));
}
