// A week as a chart: rooms as lanes, days as columns, seats as filled bars, the current time as a line.
import { h } from "./dom.js";
import { seats } from "./charts.js";
import { addDays, clock, day, dayName, midnight } from "./times.js";

// `show(row, pressed)` is called for a chosen class. `waiting` counts the waitlist by class id.
export function week(lanes, classes, { first, zone, waiting, show, caption }) {
  const days = Array.from({ length: 7 }, (_, at) => addDays(first, at));
  const today = day(new Date(), zone);
  const heads = days.map((one) => h("th", { scope: "col", class: one === today && "today" }, dayName(midnight(one, zone), zone)));
  const rows = lanes.map((lane) => h("tr", {}, h("th", { scope: "row" }, lane.name),
    days.map((one) => h("td", { class: one === today && "today" }, cell(classes.filter((row) => row.lane === lane.id && day(new Date(row.start_time), zone) === one), one === today)))));
  function cell(found, now) {
    const nodes = found.map((row) => block(row));
    if (now && found.length) {
      const passed = found.filter((row) => new Date(row.start_time) <= new Date()).length;
      nodes.splice(passed, 0, h("div", {}, h("span", { class: "now-label" }, `now ${clock(new Date(), zone)}`), h("hr", { class: "now" })));
    }
    return nodes;
  }
  function block(row) {
    const queue = waiting.get(row.id) || 0;
    const pressed = h("button", { type: "button", class: `class ${row.status === "cancelled" ? "cancelled" : ""}`, "aria-expanded": "false", onclick: () => show(row, pressed) },
      h("b", {}, `${clock(row.start_time, zone)} ${row.title}`),
      h("small", {}, row.status === "cancelled" ? "cancelled" : `${row.booked_count}/${row.capacity} taken${row.held_count ? ` · ${row.held_count} held` : ""}${queue ? ` · ${queue} waiting` : ""}`),
      seats(row.booked_count + row.held_count, row.capacity, queue));
    return pressed;
  }
  return h("div", { class: "scroll week", tabindex: "0", role: "region", "aria-label": caption },
    h("table", {}, h("caption", {}, caption), h("thead", {}, h("tr", {}, h("th", { scope: "col" }, "Room"), heads)), h("tbody", {}, rows)));
}

// The lanes of a week: rooms by name, then classes without a room by their location.
export function lanesOf(classes, rooms, locations) {
  const names = new Map([...locations.map((row) => [row.id, row.name]), ...rooms.map((row) => [row.id, row.name])]);
  for (const row of classes) row.lane = row.room_id || row.location_id || "";
  const used = [...new Set(classes.map((row) => row.lane))];
  return used.map((id) => ({ id, name: names.get(id) || (id ? id.slice(0, 8) : "No room") })).sort((a, b) => a.name.localeCompare(b.name));
}
