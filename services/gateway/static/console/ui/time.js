// Times: one chosen zone for the whole page, relative words in lists, ISO for copying.
const formats = new Map();
function format(zone, options) {
  const key = zone + JSON.stringify(options);
  if (!formats.has(key)) formats.set(key, new Intl.DateTimeFormat("en-GB", { timeZone: zone, hourCycle: "h23", ...options }));
  return formats.get(key);
}

export const browserZone = Intl.DateTimeFormat().resolvedOptions().timeZone || "UTC";
// `studio` is set once the studio is known; `current` is what every time on the page is shown in.
export const zones = { studio: "UTC", of: "studio", mode: keep.get("zone") || "studio", get current() { return this.mode === "browser" ? browserZone : this.studio; } };
export function setZone({ studio, of = "studio", mode }) {
  if (studio) Object.assign(zones, { studio, of });
  if (mode) { zones.mode = mode; keep.set("zone", mode); }
  window.dispatchEvent(new Event("st-zone"));
}

const date = (value) => (value instanceof Date ? value : new Date(value));
export const clock = (value, zone = zones.current) => format(zone, { hour: "2-digit", minute: "2-digit" }).format(date(value));
export const dayName = (value, zone = zones.current) => format(zone, { weekday: "short", day: "numeric", month: "short" }).format(date(value)).replace(",", "");
export const longDay = (value, zone = zones.current) => format(zone, { weekday: "long", day: "numeric", month: "long" }).format(date(value)).replace(",", "");
// 2026-08-03, in the zone
export const day = (value, zone = zones.current) => format(zone, { year: "numeric", month: "2-digit", day: "2-digit" }).format(date(value)).split("/").reverse().join("-");
export const exact = (value, zone = zones.current) => `${format(zone, { weekday: "short", day: "numeric", month: "short", year: "numeric", hour: "2-digit", minute: "2-digit", second: "2-digit" }).format(date(value))} ${zone}`;
export const iso = (value) => date(value).toISOString();
export const minutesOfDay = (value, zone = zones.current) => { const [h, m] = clock(value, zone).split(":"); return Number(h) * 60 + Number(m); };

// "Today 18:00", "Tomorrow 07:00", "Tue 18 Nov, 18:00"
export function dayAndTime(value, zone = zones.current, now = Date.now()) {
  return `${dayWord(value, zone, now)}${" "}${clock(value, zone)}`;
}
export const sinceText = (value) => (day(value) === day(Date.now()) ? clock(value) : inText(value));
export const inText = (value) => dayAndTime(value).replace(/^(?:Today|Tomorrow|Yesterday)/, (word) => word.toLowerCase());
export function dayWord(value, zone = zones.current, now = Date.now()) {
  const there = day(value, zone), today = day(now, zone);
  const words = { [today]: "Today", [addDays(today, 1)]: "Tomorrow", [addDays(today, -1)]: "Yesterday" };
  return words[there] || `${dayName(value, zone)}${there.slice(0, 4) === today.slice(0, 4) ? "" : ` ${there.slice(0, 4)}`}`;
}

// "just now", "2 min ago", "in 4 min", then the day and time. Never seconds in the past: a list is not a stopwatch.
export function relative(value, now = Date.now()) {
  const seconds = Math.round((date(value) - now) / 1000), away = Math.abs(seconds);
  const put = (text) => (seconds < 0 ? `${text} ago` : `in ${text}`);
  if (away < 45) return seconds <= 0 ? "just now" : `in ${away} s`;
  if (away < 3570) return put(`${Math.max(1, Math.round(away / 60))} min`);
  if (away < 6 * 3600) return put(`${Math.round(away / 3600)} h`);
  return dayAndTime(value, zones.current, now);
}
export function lasting(milliseconds) {
  if (milliseconds < 1000) return `${Math.round(milliseconds)} ms`;
  const seconds = milliseconds / 1000;
  if (seconds < 60) return `${seconds < 10 ? Math.round(seconds * 10) / 10 : Math.round(seconds)} s`;
  if (seconds < 3600) return `${Math.round(seconds / 60)} min`;
  return seconds < 172800 ? `${Math.round(seconds / 3600)} h` : `${Math.round(seconds / 86400)} days`;
}

// The instant of midnight of a day in a zone. Computed twice, since the first guess may have another offset.
export function midnight(text, zone = zones.current) {
  const plain = Date.parse(`${text}T00:00:00Z`);
  let instant = plain;
  for (let round = 0; round < 2; round += 1) instant = plain - offset(instant, zone);
  return new Date(instant);
}
// "18:30" of a day in the chosen zone; a clock change in the night moves it, so it is set right once.
export function instant(date, text) {
  const minute = Number(text.slice(0, 2)) * 60 + Number(text.slice(3, 5));
  const guess = midnight(date).getTime() + minute * 60000;
  return new Date(guess - (minutesOfDay(guess) - minute) * 60000);
}
function offset(instant, zone) {
  const parts = Object.fromEntries(format(zone, { year: "numeric", month: "numeric", day: "numeric", hour: "numeric", minute: "numeric", second: "numeric" })
    .formatToParts(new Date(instant)).map(({ type, value }) => [type, value]));
  return Date.UTC(parts.year, parts.month - 1, parts.day, parts.hour, parts.minute, parts.second) - Math.floor(instant / 1000) * 1000;
}
export const addDays = (text, count) => new Date(Date.parse(`${text}T00:00:00Z`) + count * 86400000).toISOString().slice(0, 10);
export const monday = (text) => addDays(text, -((new Date(`${text}T00:00:00Z`).getUTCDay() + 6) % 7));
