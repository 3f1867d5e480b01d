// Schedule desk: a day's or week's classes, and the work of the staff on one of them.
import { ask, badge, button, facts, field, h, input, section } from "../dom.js";
import { guarded } from "../shell.js";
import { table } from "../tables.js";
import { addDays, day, midnight, moment, monday } from "../times.js";
import { lanesOf, week } from "../week_chart.js";
import { chosenStudio } from "./choice.js";

export const title = "Schedule desk";

export async function render(view) {
  const { place, api, params } = view;
  const studio = chosenStudio(view, "desk");
  if (!studio) return;
  const { zone } = studio;
  const first = monday(/^\d{4}-\d\d-\d\d$/.test(params.get("week") || "") ? params.get("week") : day(new Date(), zone));
  const span = { starts_after: new Date(midnight(first, zone) - 1).toISOString(), starts_before: midnight(addDays(first, 7), zone).toISOString() };
  const classes = await api.all(`${studio.path}/classes`, span);
  const go = (days) => { location.hash = `#/desk?${new URLSearchParams({ studio: studio.id, week: addDays(first, days) })}`; };
  const details = h("div", {});
  let opened = null;
  const show = (row, pressed) => {
    if (opened) opened.setAttribute("aria-expanded", "false");
    (opened = pressed).setAttribute("aria-expanded", "true");
    guarded(details, () => showClass(view, studio, row.id, details))();
  };
  place.append(section(`Week of ${first}`, h("div", { class: "row" }, button("Week before", () => go(-7)), button("Week after", () => go(7))),
    classes.rows.length ? week(lanesOf(classes.rows, [], []), classes.rows, { first, zone, waiting: new Map(), show, caption: `Classes of ${studio.name}, times in ${zone}` }) : h("p", { class: "empty" }, "No classes in this week.")), details);
}

async function showClass(view, studio, id, details, told = "") {
  const { api } = view;
  const path = `${studio.path}/classes/${id}`;
  const [row, roster] = await Promise.all([api.get(path), api.all(`${path}/roster`)]);
  const result = h("div", { role: "status" }, told);
  const again = (text) => showClass(view, studio, id, details, text);
  const act = (one, verb, done, question) => guarded(result, async () => {
    if (question && !(await ask(`${done}?`, question, done))) return;
    await api.post(`${studio.path}/bookings/${one.id}/${verb}`, verb === "cancel" ? {} : undefined);
    await again(`${one.member_name}: ${done.toLowerCase()}.`);
  });
  const label = (verb, one) => ({ "aria-label": `${verb} ${one.member_name}` });
  const work = (one) => {
    if (one.status === "confirmed") return [button("Check in", act(one, "check-in", "Checked in"), label("Check in", one)), " ", button("No-show", act(one, "no-show", "No-show", `${one.member_name} is marked as not having come.`), label("No-show", one)), " ", button("Cancel", act(one, "cancel", "Cancel the booking", `${one.member_name} loses the seat, under the studio's policy.`), { class: "act danger", ...label("Cancel", one) })];
    if (one.status === "checked_in") return button("Undo check-in", act(one, "undo-check-in", "Check-in undone"), label("Undo check-in", one));
    return null;
  };
  const capacity = input({ type: "number", min: "0", value: row.capacity });
  const save = guarded(result, async () => { await api.patch(path, { capacity: Number(capacity.value) }); await again("The capacity is changed."); });
  const cancel = guarded(result, async () => {
    if (!(await ask("Cancel the class?", `${row.title} on ${moment(row.start_time, studio.zone)} is cancelled, with the ${row.booked_count} bookings in it.`, "Cancel the class"))) return;
    await api.post(`${path}/cancel`, {});
    await again("The class is cancelled.");
  });
  details.replaceChildren(section(row.title, result, facts([["Starts", moment(row.start_time, studio.zone)], ["Status", badge(row.status)], ["Seats", `${row.booked_count} of ${row.capacity} taken${row.held_count ? `, ${row.held_count} held` : ""}`]]),
    row.status === "scheduled" && h("form", { class: "row", onsubmit: (event) => { event.preventDefault(); save(event); } }, field("Capacity", capacity), button("Save", null, { type: "submit" }), button("Cancel the class", cancel, { class: "act danger" })),
    table("Roster", [["Member", (one) => one.member_name], ["Email", (one) => one.member_email], ["Status", (one) => badge(one.status)], ["Held until", (one) => one.held_until && moment(one.held_until, studio.zone)], ["Position", (one) => one.waitlist_position && String(one.waitlist_position)], ["Actions", work]], roster.rows, "Nobody has booked.")));
}
