// Studios: the list, and a new one.
import { badge, button, code, field, h, input, section } from "../dom.js";
import { guarded } from "../shell.js";
import { table } from "../tables.js";
import { moment } from "../times.js";

export const title = "Studios";

export async function render({ place, api, operator, studios }) {
  const list = table("Studios", [["Name", (row) => row.name], ["Slug", (row) => row.slug && code(row.slug)], ["Time zone", (row) => row.timezone], ["Kind", (row) => badge(row.test ? "test" : "live")], ["Created (UTC)", (row) => moment(row.created_at, "UTC")], ["Id", (row) => code(row.id)]], (await api.all("/studios")).rows);
  place.append(section("Studios", list));
  if (!operator) return;
  const name = input({ type: "text", required: true });
  const slug = input({ type: "text", required: true, placeholder: "my-studio" });
  const zone = input({ type: "text", required: true, value: Intl.DateTimeFormat().resolvedOptions().timeZone });
  const result = h("div", { role: "status" });
  const create = guarded(result, async () => {
    const made = await api.post("/studios", { name: name.value, slug: slug.value, timezone: zone.value });
    list.add([made]);
    studios.push(made);
    result.replaceChildren(`${made.name} is there.`);
  });
  place.append(section("New studio", h("form", { class: "row", onsubmit: (event) => { event.preventDefault(); create(event); } }, field("Name", name), field("Slug", slug), field("Time zone", zone), button("Create", null, { type: "submit", class: "act main" })), result));
}
