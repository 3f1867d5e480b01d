// Small charts as SVG, each with a text description.
import { svg } from "./dom.js";

// Seats taken out of all seats; a full class is marked by more than its colour.
export function seats(taken, capacity, waiting = 0) {
  const share = capacity > 0 ? Math.min(1, taken / capacity) : 0;
  const label = `${taken} of ${capacity} seats taken${waiting ? `, ${waiting} waiting` : ""}`;
  return svg("svg", { class: share >= 1 ? "seats full" : "seats", viewBox: "0 0 100 8", preserveAspectRatio: "none", role: "img", "aria-label": label },
    svg("rect", { class: "track", width: 100, height: 8, rx: 2 }),
    svg("rect", { class: "taken", width: (share * 100).toFixed(1), height: 8, rx: 2 }));
}

// The last values of a figure as a line.
export function trend(measured, label) {
  const values = measured.length === 1 ? [measured[0], measured[0]] : measured;
  const highest = Math.max(1, ...values);
  const step = values.length > 1 ? 120 / (values.length - 1) : 120;
  const points = values.map((value, at) => `${(at * step).toFixed(1)},${(28 - (value / highest) * 26).toFixed(1)}`).join(" ");
  return svg("svg", { class: "trend", viewBox: "0 0 120 30", preserveAspectRatio: "none", role: "img", "aria-label": `${label}: ${values.at(-1) ?? 0} now, ${highest} at most` },
    svg("polyline", { points: points || "0,28 120,28", fill: "none" }));
}
