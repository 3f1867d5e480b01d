// The studio that a page is about, kept in the address.
import { field, h, section, select } from "../dom.js";

export function chosenStudio({ place, studios, params }, page) {
  const wanted = params.get("studio");
  const studio = studios.find((row) => row.id === wanted) || studios[0];
  if (!studio) return void place.append(section("No studio", h("p", {}, "Create one on the page Studios first.")));
  const go = (id) => { location.hash = `#/${page}?studio=${id}`; };
  place.append(h("div", { class: "row" }, field("Studio", select(studios.map((row) => [row.id, row.name]), studio.id, go))));
  return { ...studio, zone: studio.timezone || "UTC", path: `/studios/${studio.id}` };
}
