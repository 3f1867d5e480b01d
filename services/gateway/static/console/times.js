// Times in a studio's time zone.
const formats = new Map();

function format(zone, options) {
  const key = zone + JSON.stringify(options);
  if (!formats.has(key)) formats.set(key, new Intl.DateTimeFormat("en-GB", { timeZone: zone, ...options }));
  return formats.get(key);
}

export const moment = (text, zone) =>
  text ? format(zone, { dateStyle: "medium", timeStyle: "medium" }).format(new Date(text)) : "—";
export const clock = (text, zone) => format(zone, { hour: "2-digit", minute: "2-digit" }).format(new Date(text));
export const dayName = (date, zone) => format(zone, { weekday: "short", day: "numeric", month: "short" }).format(date);
// 2026-08-03
export const day = (date, zone) => format(zone, { year: "numeric", month: "2-digit", day: "2-digit" }).format(date).split("/").reverse().join("-");

// The instant of midnight of a day in a zone. Computed twice, since the first guess may have another offset.
export function midnight(text, zone) {
  const plain = Date.parse(`${text}T00:00:00Z`);
  let instant = plain;
  for (let round = 0; round < 2; round += 1) instant = plain - offset(instant, zone);
  return new Date(instant);
}

function offset(instant, zone) {
  const parts = Object.fromEntries(
    format(zone, { hourCycle: "h23", year: "numeric", month: "numeric", day: "numeric", hour: "numeric", minute: "numeric", second: "numeric" })
      .formatToParts(new Date(instant)).map(({ type, value }) => [type, value]));
  const local = Date.UTC(parts.year, parts.month - 1, parts.day, parts.hour, parts.minute, parts.second);
  return local - Math.floor(instant / 1000) * 1000;
}

export function addDays(text, count) {
  return new Date(Date.parse(`${text}T00:00:00Z`) + count * 86400000).toISOString().slice(0, 10);
}
export function monday(text) {
  return addDays(text, -((new Date(`${text}T00:00:00Z`).getUTCDay() + 6) % 7));
}
