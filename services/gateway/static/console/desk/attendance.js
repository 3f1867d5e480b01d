// Check-ins, shown at once and sent one after the other. Without network they wait here, and are sent when it is back.
// A repeated check-in is refused by the API as already done, so a lost answer costs nothing.
import { toast } from "../ui/toast.js";

const DONE = { "check-in": "checked_in", "undo-check-in": "confirmed", "no-show": "no_show" };
export class Attendance extends EventTarget {
  constructor(api) {
    super();
    Object.assign(this, { api, waiting: [], shown: new Map(), offlineSince: null, busy: false, timer: 0, ending: new AbortController() });
    window.addEventListener("online", () => this.send(), { signal: this.ending.signal });
    window.addEventListener("beforeunload", (event) => { if (this.waiting.length) event.preventDefault(); }, { signal: this.ending.signal });
  }
  stop() { this.ending.abort(); clearTimeout(this.timer); }
  tell(row) { this.dispatchEvent(Object.assign(new Event("change"), { row })); }
  // What the desk sees: the last answer, and over it what is not answered yet.
  seen(row) { const over = this.shown.get(row.id); return over ? { ...row, ...over } : row; }
  mark(row, verb) {
    const status = DONE[verb];
    this.shown.set(row.id, { status, checked_in_at: status === "checked_in" ? new Date().toISOString() : null });
    const earlier = this.waiting.findIndex((one) => one.id === row.id && !one.sent && !one.tried);
    if (earlier >= 0) {
      // What was never sent is taken back here.
      const [one] = this.waiting.splice(earlier, 1);
      if (one.from === status) { this.shown.delete(row.id); return this.tell(); }
    }
    this.waiting.push({ id: row.id, name: row.member_name, verb, status, from: row.status, sent: false });
    this.tell();
    this.send();
  }
  offline(is) {
    if (Boolean(this.offlineSince) === is) return;
    this.offlineSince = is ? Date.now() : null;
    this.tell();
  }
  async send() {
    if (this.busy) return;
    this.busy = true;
    clearTimeout(this.timer);
    while (this.waiting.length && !this.ending.signal.aborted) {
      const [one] = this.waiting;
      try {
        one.sent = true;
        const row = await this.api.post(`/bookings/${one.id}/${one.verb}`, undefined, { quiet: true });
        this.done(one, row);
      } catch (error) {
        if (error.offline || error.status >= 502) {
          Object.assign(one, { sent: false, tried: true });
          this.offline(true);
          this.timer = setTimeout(() => this.send(), 3000);
          break;
        }
        const already = error.code === "invalid_state_transition" && error.info?.details?.from === one.status;
        this.done(one, null);
        if (!already) toast(`${one.name}: ${error.message}`, { kind: "bad" });
      }
      this.offline(false);
    }
    this.busy = false;
  }
  done(one, row) {
    this.waiting.splice(this.waiting.indexOf(one), 1);
    if (!this.waiting.some((other) => other.id === one.id)) this.shown.delete(one.id);
    this.tell(row || { id: one.id });
  }
}
