// Check-ins, shown at once and sent one after the other. Without network they wait here, and are sent when it is back.
// A repeated check-in is refused by the API as already done, so a lost answer costs nothing.
// What waits when the session ends is held: whoever signs in next sends it in their own name, or drops it.
import { html, nothing } from "../vendor/lit.js";
import { counted } from "../ui/marks.js";
import { clock } from "../ui/time.js";
import { toast } from "../ui/toast.js";

const DONE = { "check-in": "checked_in", "undo-check-in": "confirmed", "no-show": "no_show" };
export class Attendance extends EventTarget {
  constructor(api, studio) {
    super();
    Object.assign(this, { api, studio, waiting: [], shown: new Map(), offlineSince: null, busy: false, timer: 0, ending: new AbortController() });
    window.addEventListener("online", () => this.send(), { signal: this.ending.signal });
    window.addEventListener("beforeunload", (event) => { if (this.waiting.length) event.preventDefault(); }, { signal: this.ending.signal });
  }
  stop() { this.ending.abort(); clearTimeout(this.timer); }
  get held() { return this.waiting.filter((one) => one.held); }
  hold() {
    for (const one of this.waiting) one.held = true;
    clearTimeout(this.timer);
  }
  release() {
    for (const one of this.waiting) one.held = false;
    this.tell();
    this.send();
  }
  drop() { for (const one of this.held) this.done(one); }
  tell(row) { this.dispatchEvent(Object.assign(new Event("change"), { row })); }
  // What the desk sees: the last answer, and over it what is not answered yet.
  seen(row) { const over = this.shown.get(row.id); return over ? { ...row, ...over } : row; }
  mark(row, verb) {
    const status = DONE[verb];
    this.waiting = this.waiting.filter((one) => !(one.held && one.id === row.id));
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
    while (!this.ending.signal.aborted) {
      const one = this.waiting.find((next) => !next.held);
      if (!one) break;
      try {
        one.sent = true;
        const row = await this.api.post(`/bookings/${one.id}/${one.verb}`);
        this.done(one, row);
      } catch (error) {
        if (error.offline || error.status >= 502 || error.status === 401) {
          Object.assign(one, { sent: false, tried: true, held: error.status === 401 });
          if (one.held) continue;
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
// What the desk says of its network, and of changes that wait.
export function queueNotes(attendance) {
  const { held, offlineSince } = attendance, fresh = attendance.waiting.length - held.length;
  const waits = fresh ? ` ${counted(fresh, "change waits", "changes wait")} here and will be sent when the network is back.` : "";
  const list = held.map((one) => `${one.name} (${one.verb})`).join(", ");
  return html`${offlineSince ? html`<p class="stale offline" role="status">Offline since ${clock(offlineSince)}: you see what was read last.${waits}</p>` : nothing}
    ${held.length ? html`<p class="notice offline" role="status">Not sent when the session before ended: ${list}.
      <button class="btn small" @click=${() => attendance.release()}>Send in my name</button>
      <button class="btn small" @click=${() => attendance.drop()}>Drop</button></p>` : nothing}`;
}
