// Tables: a fixed one, and one that pages by cursor.
import { button, h } from "./dom.js";

export function table(caption, columns, rows, empty = "Nothing here yet.") {
  const body = h("tbody", {});
  const node = h("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": caption },
    h("table", { class: "rows" }, h("caption", {}, caption),
      h("thead", {}, h("tr", {}, columns.map(([title]) => h("th", { scope: "col" }, title)))), body));
  const none = h("p", { class: "empty" }, empty);
  const add = (more) => {
    body.append(...more.map((row) => h("tr", {}, columns.map(([, cell]) => h("td", {}, shown(cell(row)))))));
    none.hidden = body.children.length > 0;
  };
  add(rows);
  return Object.assign(h("div", {}, node, none), { add, body });
}

const shown = (value) => (value === null || value === undefined || value === "" ? "—" : value);

// `load(cursor)` gives a page of the API.
export async function pagedTable(caption, columns, load, empty) {
  const first = await load(undefined);
  const rows = table(caption, columns, first.data, empty);
  let cursor = first.next_cursor;
  const more = button("Show more", async () => {
    more.disabled = true;
    try {
      const page = await load(cursor);
      rows.add(page.data);
      cursor = page.next_cursor;
    } finally {
      more.disabled = false;
      more.hidden = !cursor;
    }
  });
  more.hidden = !cursor;
  rows.append(more);
  return rows;
}
