// <st-calendar>: classes on a time axis. Properties: `rows` (id, start_time, end_time, title, …), `columns` [{ key, title, sub, today }],
// `columnOf(row)`, `hueOf(row)` 0–7, `text(row)` a line under the title, `fill(row)` 0–1, `to(row)`, `selected`; `moreTo(column)` for what does not fit; `pick(column, minute, lasts)` for a click into an empty place, or a drag over it.
import { html, nothing, Piece, repeat, styled } from "./element.js";
import { clock, minutesOfDay } from "./time.js";

const HOUR = 52, APART = 22, CARD = 16; // pixels, minutes, and percent by which a card on another is set in
const LANE = 58, TALL = 36, ROOMY = 46, AXIS = 46, SPELL = 120; // pixels: narrower hides the time, lower has room for one line, or for two; and minutes for one "+n more"
const PADDING = 16, inSteps = (pixels) => Math.floor(pixels / 20) * 20;
// Overlapping rows stand side by side: each gets the first free lane, a group of overlaps shares its number of lanes.
// Of more than fit into `wide` pixels, the first are shown; `more` of the first of all has [how many others, until which minute], …
export function lanes(rows, wide) {
  const placed = [];
  let group = [], ends = [], until = -Infinity;
  const flush = () => {
    // Starts that are far enough apart leave each title free: such rows overlap like cards.
    const apart = ends.length > 1 && group.every((one, n) => !n || one.start - group[n - 1].start >= APART);
    const fit = Math.max(1, apart ? 1 + Math.floor((1 - LANE / wide) * 100 / CARD) : Math.floor(wide / LANE)), of = Math.min(ends.length, fit);
    for (const one of group) Object.assign(one, { of, apart });
    const shown = group.filter((one) => one.lane < fit);
    const hidden = Map.groupBy(group.filter((one) => one.lane >= fit), (one) => Math.floor((one.start - group[0].start) / SPELL));
    if (hidden.size) shown[0].more = [...hidden].map(([n, rows]) => [rows.length, Math.min(until, group[0].start + (n + 1) * SPELL)]);
    placed.push(...shown);
    group = []; ends = [];
  };
  for (const row of rows.toSorted((a, b) => a.start - b.start || b.end - a.end)) {
    if (row.start >= until) flush();
    let lane = ends.findIndex((end) => end <= row.start);
    if (lane < 0) lane = ends.push(0) - 1;
    ends[lane] = row.end;
    until = Math.max(group.length ? until : -Infinity, row.end);
    group.push({ ...row, lane });
  }
  flush();
  return placed;
}
class Calendar extends Piece {
  static properties = { rows: {}, columns: {}, selected: {}, columnOf: {}, hueOf: {}, text: {}, fill: {}, to: {}, pick: {}, moreTo: {}, wide: { state: true } };
  constructor() { super(); Object.assign(this, { rows: [], columns: [], hueOf: () => 0, text: () => "", fill: () => 0, to: () => "#", moreTo: () => "#", pick: null }); }
  connectedCallback() { super.connectedCallback(); this.wide = inSteps(this.parentElement.clientWidth - 2 * PADDING); this.timer = setInterval(() => this.requestUpdate(), 60000); }
  disconnectedCallback() { super.disconnectedCallback(); clearInterval(this.timer); this.sight.disconnect(); }
  firstUpdated() {
    this.sight = new ResizeObserver(([{ contentRect }]) => { this.wide = inSteps(contentRect.width); });
    this.sight.observe(this.firstElementChild);
  }
  render() {
    const shaped = this.rows.map((row) => { const start = minutesOfDay(row.start_time), length = Math.max(15, (new Date(row.end_time) - new Date(row.start_time)) / 60000); return { row, start, end: start + length, column: this.columnOf(row) }; });
    const first = Math.min(7, ...shaped.map((one) => Math.floor(one.start / 60))), last = Math.min(24, Math.max(21, ...shaped.map((one) => Math.ceil(one.end / 60))));
    const hours = Array.from({ length: last - first }, (_, n) => first + n), y = (minute) => ((minute - first * 60) / 60) * HOUR;
    const here = minutesOfDay(Date.now());
    return html`<div class="calendar" ${styled({ "--columns": this.columns.length, "--tall": `${hours.length * HOUR}px` })}><div class="cal-head"><span></span>${this.columns.map((column) => html`<span class=${column.today ? "today" : ""}>${column.title}${column.sub ? html` <small>${column.sub}</small>` : nothing}</span>`)}</div>
      <div class="cal-body"><div class="hours" aria-hidden="true">${hours.map((hour) => html`<span>${String(hour).padStart(2, "0")}:00</span>`)}</div>
      ${this.columns.map((column) => html`<div class="cal-column ${column.today ? "today" : ""}" role="group" aria-label="${column.title} ${column.sub || ""}" @pointerdown=${this.pick ? (event) => this.press(event, (from, lasts) => this.pick(column, first * 60 + from, lasts)) : nothing}>
        ${column.today && here >= first * 60 && here <= last * 60 ? html`<i class="now" ${styled({ top: `${y(here)}px` })}></i>` : nothing}
        ${repeat(lanes(shaped.filter((one) => one.column === column.key), (this.wide - AXIS) / this.columns.length), (one) => one.row.id, (one) => this.block(one, y, column))}</div>`)}</div></div>`;
  }
  // A click names a quarter of an hour; a drag also says how long the class lasts.
  press(event, pick) {
    const place = event.currentTarget, top = event.clientY - event.offsetY, minute = (y) => Math.floor(((y - top) / HOUR) * 4) * 15;
    if (event.target !== place || event.button) return;
    const from = minute(event.clientY), shade = place.appendChild(document.createElement("i")), done = new AbortController();
    let lasts = 0;
    const end = () => { done.abort(); shade.remove(); };
    const drag = ({ clientY }) => {
      lasts = Math.max(0, minute(clientY) + 15 - from);
      Object.assign(shade.style, { top: `${(from / 60) * HOUR}px`, height: `${(lasts / 60) * HOUR}px` });
    };
    shade.className = "drawn";
    place.setPointerCapture(event.pointerId);
    for (const [name, step] of [["pointermove", drag], ["pointercancel", end], ["pointerup", () => { end(); pick(from, lasts > 15 ? lasts : undefined); }]]) place.addEventListener(name, step, done);
  }
  block({ row, start, end, lane, of, apart, more }, y, column) {
    const left = apart ? lane * CARD : (lane / of) * 100, width = apart ? 100 - left : 100 / of;
    const gone = row.status === "cancelled", fill = Math.min(1, this.fill(row)), text = this.text(row);
    const tall = Math.max(20, ((end - start) / 60) * HOUR - 3), tight = apart || tall < TALL, at = clock(row.start_time);
    return html`<a class="block t${this.hueOf(row)} ${gone ? "gone-class" : ""} ${apart ? "apart" : ""} ${tight ? "tight" : tall >= ROOMY ? "roomy" : ""}" data-id=${row.id} href=${this.to(row)} aria-current=${row.id === this.selected ? "true" : nothing} title="${at}–${clock(row.end_time)} ${row.title} · ${text}"
      ${styled({ top: `${y(start) + 1}px`, height: `${tall}px`, left: `calc(${left}% + 2px)`, width: `calc(${width}% - 4px)` })} @click=${() => setTimeout(() => document.querySelector(".pane")?.focus({ preventScroll: true }), 60)}>
      <i class="fill" ${styled({ height: `${fill * 100}%` })}></i>${tight ? html`<span>${at}</span> <b>${row.title}</b> <span>${text}</span>` : html`<b>${row.title}</b><span>${at} · ${text}</span>`}</a>
      ${(more || []).map(([count, until]) => html`<a class="more-classes" href=${this.moreTo(column)} aria-label="${count} more: open the day" ${styled({ top: `${y(until) - 19}px` })}>+${count} more</a>`)}`;
  }
}
customElements.define("st-calendar", Calendar);
