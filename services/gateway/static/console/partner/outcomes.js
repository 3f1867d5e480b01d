// What became of an event at each endpoint, kept for the pages that show it: read from the newest deliveries of the endpoints.
import { kindOf } from "../ui/marks.js";

const MOST = 1000, ENDPOINTS = 8, APART = 5000; // more than a list shows
export class Outcomes {
  constructor(app) { Object.assign(this, { app, byEvent: new Map(), endpoints: null, timer: 0, due: 0, readAt: 0, events: new Map(), asked: new Set() }); }
  async listEndpoints({ again = false } = {}) {
    if (again || !this.endpoints) this.endpoints = this.app.api.all("/webhook-endpoints", {}, 400).then(({ rows }) => rows).catch((error) => { this.endpoints = null; throw error; });
    return this.endpoints;
  }
  async endpoint(id) { return (await this.listEndpoints()).find((row) => row.id === id) || null; }
  learn(rows) {
    for (const row of rows) {
      const known = (this.byEvent.get(row.event_id) || []).filter((one) => one.id !== row.id);
      this.byEvent.set(row.event_id, [...known, { id: row.id, endpoint_id: row.endpoint_id, status: row.status, attempts: row.attempt_count, next: row.next_attempt_at }]);
    }
    while (this.byEvent.size > MOST) this.byEvent.delete(this.byEvent.keys().next().value);
  }
  // After an event: once its deliveries may be done, and not for each one of a stream of them.
  soon(signal) {
    this.reader = signal;
    this.due ||= setTimeout(() => {
      this.due = 0;
      if (!this.reader.aborted) this.refresh(this.reader, 50).catch(() => {});
    }, Math.max(1200, this.readAt + APART - Date.now()));
  }
  // Reads the newest deliveries, and again when one that is under way should be done.
  async refresh(signal, limit = 200) {
    this.readAt = Date.now();
    const endpoints = (await this.listEndpoints()).slice(0, ENDPOINTS);
    const pages = await Promise.all(endpoints.map((one) => this.app.api.get(`/webhook-endpoints/${one.id}/deliveries`, { order: "desc", limit }, { signal }).catch(() => ({ data: [] }))));
    const rows = pages.flatMap((page) => page.data);
    this.learn(rows);
    window.dispatchEvent(new Event("st-zone"));
    const due = rows.filter((row) => row.status === "pending").map((row) => new Date(row.next_attempt_at) - Date.now()).filter((wait) => wait > -20000 && wait < 60000);
    clearTimeout(this.timer);
    if (due.length && !signal.aborted && !document.hidden) this.timer = setTimeout(() => { if (!signal.aborted) this.refresh(signal, 50).catch(() => {}); }, Math.max(2500, Math.min(...due) + 1500));
  }
  of(event) { return (this.byEvent.get(event.id) || []).toSorted((a, b) => (a.endpoint_id < b.endpoint_id ? -1 : 1)); }
  // An event by its id, for a delivery's sentence; undefined while it is on its way.
  event(id) {
    if (this.events.has(id)) return this.events.get(id);
    if (!this.asked.has(id)) {
      this.asked.add(id);
      this.app.api.get(`/events/${id}`).then((row) => this.keep([row]), () => this.events.set(id, null)).then(() => { this.asked.delete(id); window.dispatchEvent(new Event("st-zone")); });
    }
    return undefined;
  }
  keep(rows) { for (const row of rows) this.events.set(row.id, row); while (this.events.size > MOST) this.events.delete(this.events.keys().next().value); }
}
// A delivery that failed and waits for its next try is failing, whatever its status says.
export const outcomeOf = (row) => (row.status === "pending" && (row.attempt_count ?? row.attempts) > 0 ? "failing" : row.status);
// Due for a while and not tried: its endpoint is paused.
export const overdue = (row) => row.status === "pending" && row.next_attempt_at && new Date(row.next_attempt_at) < Date.now() - 15000;
export const worst = (rows) => ["bad", "warn", "good"].find((kind) => rows.some((row) => kindOf(outcomeOf(row)) === kind));
