// The classes of the day: what comes next under the line of now, what is over below, each at first as many as `most`; and the first ones of tomorrow.
import { html, nothing, repeat } from "../vendor/lit.js";
import { meter } from "../ui/marks.js";
import { href } from "../ui/route.js";
import { clock, relative } from "../ui/time.js";

export const starts = (row) => new Date(row.start_time).getTime(), ends = (row) => new Date(row.end_time).getTime();
function item(row, { value, rooms, chosen }) {
  const now = Date.now(), waiting = value.waiting.get(row.id) || 0, late = value.late.some((one) => one.class_id === row.id && one.receipt.late_fee_status === "assessed");
  const gone = row.status === "cancelled", over = ends(row) < now, full = row.booked_count >= row.capacity;
  const when = gone ? "cancelled" : over ? "over" : starts(row) <= now ? "now on" : starts(row) - now < 60000 ? "in a moment" : starts(row) - now < 3 * 3600000 ? relative(row.start_time, now) : null;
  return html`<li><a class="class-item ${gone ? "gone-class" : ""} ${over ? "over" : ""}" data-id=${row.id} href=${href("today", [row.id])} aria-current=${row.id === chosen ? "true" : nothing}>
    <b class="num">${clock(row.start_time)}</b><span class="name">${row.title}${late || (waiting && row.available_count > 0) ? html` <i class="needs" role="img" aria-label="needs a hand" title=${late ? "A late cancellation" : "A free seat, and somebody waits"}></i>` : nothing}</span><b class="num soft">${row.booked_count}/${row.capacity}</b>
    <small>${[rooms?.get(row.room_id)?.name, when, waiting ? `${waiting} waiting` : null].filter(Boolean).join(" · ")}</small>
    <span class="bar">${meter(row.booked_count, row.capacity, `${row.booked_count} of ${row.capacity} seats taken`, full ? "warn" : "good")}</span></a></li>`;
}
export function classList(given) {
  const { today, tomorrow } = given.value, now = Date.now(), later = today.filter((row) => ends(row) > now), earlier = today.filter((row) => ends(row) <= now), people = today.reduce((sum, row) => sum + (row.status === "cancelled" ? 0 : row.booked_count), 0);
  const rest = Math.max(0, later.length - given.most) + Math.max(0, earlier.length - given.most);
  const next = later.findIndex((row) => starts(row) > now), line = html`<li class="now-line" aria-hidden="true"><i></i><span>${clock(now)}</span></li>`;
  return html`<h1 class="over-line">Today · ${today.length} ${today.length === 1 ? "class" : "classes"} · ${people} ${people === 1 ? "person" : "people"}</h1>
    ${today.length ? html`<ul class="classes" aria-label="Classes of today">${repeat(later.slice(0, given.most), (row) => row.id, (row, n) => html`${n === next ? line : nothing}${item(row, given)}`)}${next < 0 ? line : nothing}</ul>` : html`<p class="soft">Nothing is on today. <a href=${href("week")}>Open the week</a></p>`}
    ${earlier.length ? html`<h2 class="over-line">Earlier</h2><ul class="classes" aria-label="Earlier today">${repeat(earlier.toReversed().slice(0, given.most), (row) => row.id, (row) => item(row, given))}</ul>` : nothing}
    ${rest ? html`<button class="btn wide-btn" @click=${given.showAll}>Show ${rest} more of today</button>` : nothing}
    ${tomorrow.length ? html`<h2 class="over-line">Tomorrow</h2><ul class="classes pale" aria-label="Classes of tomorrow">${repeat(tomorrow.slice(0, 6), (row) => row.id, (row) => item(row, given))}</ul>` : nothing}`;
}
