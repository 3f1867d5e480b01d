// What keeps a page fresh: one long wait for all tabs of a session, and polling that slows down while nothing happens.
const WAIT = 25;
const pause = (seconds, signal) => new Promise((done) => {
  const timer = setTimeout(done, seconds * 1000);
  signal.addEventListener("abort", () => { clearTimeout(timer); done(); }, { once: true });
});

// Follows GET /events. The tab that holds the lock waits and tells the others; a hidden tab gives the lock away.
export class Follower {
  constructor(api, name) {
    Object.assign(this, { api, name: `studio-events-${name}`, last: null, heard: new Set(), state: "live", since: Date.now(), running: null });
    this.channel = new BroadcastChannel(this.name);
    this.channel.onmessage = ({ data }) => this.tell(data);
    document.addEventListener("visibilitychange", () => this.check());
  }
  // `step(events)` gets new events, the newest first; null means that some were missed: read everything again.
  subscribe(step, signal) {
    this.heard.add(step);
    signal.addEventListener("abort", () => { this.heard.delete(step); this.check(); }, { once: true });
    this.check();
  }
  // For a page that has read the log up to `latest`: whether it has everything that was told already. If not, it reads again.
  covers(latest) { this.last ??= latest; return this.last <= latest; }
  check() {
    const wanted = this.heard.size > 0 && !document.hidden;
    if (!wanted && this.running) { this.running.abort(); this.running = null; }
    if (wanted && !this.running) this.run(this.running = new AbortController());
  }
  again() { this.running?.abort(); this.running = null; this.check(); }
  async run({ signal }) {
    try {
      await this.step(0, signal);
      if (!navigator.locks) return void await this.loop(signal);
      await navigator.locks.request(this.name, { signal }, () => this.loop(signal));
    } catch (error) { if (!signal.aborted) { this.turn("paused"); await pause(3, signal); if (!signal.aborted) this.run({ signal }); } }
  }
  async loop(signal) {
    let rest = 1;
    while (!signal.aborted) {
      const began = Date.now();
      try {
        await this.step(this.state === "paused" ? 0 : WAIT, signal); // one that answers at once says that it is live again
        rest = 1;
        this.turn("live");
        if (Date.now() - began < 1000) await pause(1, signal);
      } catch (error) {
        if (signal.aborted) return;
        if (error.status === 401) return;
        if (error.code === "events_expired") { this.last = null; this.send({ reset: true }); continue; }
        if (error.code !== "too_many_waits") this.turn("paused");
        await pause(rest = Math.min(30, rest * 2), signal);
      }
    }
  }
  async step(wait, signal) {
    if (this.last === null) {
      const page = await this.api.get("/events", { order: "desc", limit: 1 }, { signal });
      this.last ??= page.latest_sequence;
      return;
    }
    const page = await this.api.get("/events", { after_sequence: this.last, limit: 100, wait: wait || undefined }, { signal });
    this.send({ events: page.data.toReversed(), last: page.has_more ? page.data.at(-1).sequence : page.latest_sequence });
  }
  send(message) { this.channel.postMessage(message); this.tell(message); }
  tell({ events, last, reset }) {
    if (reset) return void this.heard.forEach((step) => step(null));
    const fresh = this.last === null ? [] : events.filter((one) => one.sequence > this.last);
    this.last = Math.max(this.last ?? 0, last);
    if (fresh.length) this.heard.forEach((step) => step(fresh));
  }
  turn(state) {
    if (state === this.state) return;
    Object.assign(this, { state, since: Date.now() });
    window.dispatchEvent(new Event("st-live"));
  }
}

// Repeats `step` while the page is shown: every `fast` seconds while it returns true (something changed or is under way), else ever
// slower; with `slow: 0` it then rests. Returns a function that makes it quick again.
export function poll(step, signal, { fast = 2, slow = 30 } = {}) {
  let gap = fast, timer = 0, due = Infinity, running = false;
  const rest = () => { clearTimeout(timer); due = Infinity; };
  // Never later than planned already: in a busy studio, events that make it quick would put it off for ever.
  const plan = () => {
    const at = Date.now() + gap * 1000;
    if (signal.aborted || document.hidden || gap >= 20 + slow || at >= due) return;
    rest();
    timer = setTimeout(run, (due = at) - Date.now());
  };
  async function run() {
    rest();
    if (running || signal.aborted || document.hidden) return;
    running = true;
    try { gap = (await step()) ? fast : Math.min(slow || 30, gap * 1.6); } catch { gap = Math.min(slow || 15, gap * 2); }
    running = false;
    plan();
  }
  const nudge = (now = false) => { gap = fast; if (now === true) run(); else plan(); };
  document.addEventListener("visibilitychange", () => (document.hidden ? rest() : nudge(true)), { signal });
  signal.addEventListener("abort", rest, { once: true });
  plan();
  return nudge;
}
