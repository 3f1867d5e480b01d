// Schedule: a week by location, and a class with roster and waitlist as far as the scopes allow.
import { badge, button, code, facts, field, h, section, select } from "../dom.js";
import { guarded } from "../shell.js";
import { table } from "../tables.js";
import { addDays, day, midnight, moment, monday } from "../times.js";
import { lanesOf, week } from "../week_chart.js";

export const title = "Schedule";
const NAMED = 30;

export async function render(view) {
  const { place, api, may, params, zone } = view;
  if (!may("schedule:read")) return void place.append(section("Schedule", h("p", {}, "This session lacks the scope schedule:read.")));
  const first = monday(/^\d{4}-\d\d-\d\d$/.test(params.get("week") || "") ? params.get("week") : day(new Date(), zone));
  const location_id = params.get("location") || "";
  const span = { starts_after: new Date(midnight(first, zone) - 1).toISOString(), starts_before: midnight(addDays(first, 7), zone).toISOString(), location_id };
  const [locations, rooms, classes] = await Promise.all([
    may("studio:read") ? api.all("/locations") : { rows: [] }, api.all("/rooms"), api.all("/classes", span)]);
  const waiting = await waitlists(api, may, classes.rows);
  const go = (days, place_id) => { location.hash = `#/schedule?${new URLSearchParams({ week: addDays(first, days), location: place_id })}`; };
  const details = h("div", { role: "status" });
  const choose = select([["", "all locations"], ...locations.rows.map((row) => [row.id, row.name])], location_id, (chosen) => go(0, chosen));
  let opened = null;
  const show = (row, pressed) => {
    if (opened) opened.setAttribute("aria-expanded", "false");
    (opened = pressed).setAttribute("aria-expanded", "true");
    guarded(details, () => showClass(view, row, details))();
  };
  place.append(section(`Week of ${first}`,
    h("div", { class: "row" }, button("Week before", () => go(-7, location_id)), button("Week after", () => go(7, location_id)), field("Location", choose)),
    classes.rows.length ? week(lanesOf(classes.rows, rooms.rows, locations.rows), classes.rows, { first, zone, waiting, show, caption: `Classes, times in ${zone}` }) : h("p", { class: "empty" }, "No classes in this week."),
    classes.more && h("p", {}, "There are more classes than are shown; choose a location.")), details);
}

async function waitlists(api, may, classes) {
  const counts = new Map();
  if (!may("bookings:read") || !classes.some((row) => row.allow_waitlist && row.available_count === 0)) return counts;
  const { rows } = await api.all("/waitlist", { status: "waiting" }, 2000).catch(() => ({ rows: [] }));
  for (const row of rows) counts.set(row.class_id, (counts.get(row.class_id) || 0) + 1);
  return counts;
}

async function showClass({ api, may, zone }, row, details) {
  const parts = [facts([["Starts", moment(row.start_time, zone)], ["Ends", moment(row.end_time, zone)], ["Status", badge(row.status)], ["Seats", `${row.booked_count} of ${row.capacity} taken${row.held_count ? `, ${row.held_count} held` : ""}, ${row.available_count} free`], ["Waitlist", row.allow_waitlist ? "allowed" : "not allowed"], ["Description", row.description], ["Class", code(row.id)]])];
  if (may("bookings:read")) {
    const [roster, waiting, held] = await Promise.all([api.all("/bookings", { class_id: row.id }, 400), api.all("/waitlist", { class_id: row.id }, 400), row.held_count ? api.all("/bookings", { class_id: row.id, status: "held" }, 400) : { rows: [] }]);
    roster.rows.push(...held.rows);
    const names = may("members:read") ? await namesOf(api, [...roster.rows, ...waiting.rows]) : new Map();
    const member = (one) => names.get(one.member_id) || code(one.member_id);
    parts.push(table("Roster", [["Member", member], ["Status", (one) => badge(one.status)], ["Booked", (one) => moment(one.created_at, zone)], ["Booking", (one) => code(one.id)]], roster.rows, "Nobody has booked."),
      table("Waitlist", [["Position", (one) => one.position !== null && String(one.position)], ["Member", member], ["Status", (one) => badge(one.status)]], waiting.rows, "Nobody is waiting."));
  } else parts.push(h("p", {}, "The roster needs the scope bookings:read."));
  details.replaceChildren(section(row.title, ...parts));
}

async function namesOf(api, rows) {
  const ids = [...new Set(rows.map((row) => row.member_id))].slice(0, NAMED);
  const members = await Promise.all(ids.map((id) => api.get(`/members/${id}`, {}, { quiet: true }).catch(() => null)));
  return new Map(members.filter(Boolean).map((one) => [one.id, `${one.first_name} ${one.last_name}`.trim()]));
}
