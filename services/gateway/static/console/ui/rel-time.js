// <st-time .at=${iso}>: "2 min ago", with the whole time on hover. One timer for all of them, so that a row ages by itself.
import { dayAndTime, exact, iso, relative } from "./time.js";

const all = new Set();
let timer = 0;
const tick = () => { for (const one of all) one.draw(); };

class RelativeTime extends HTMLElement {
  set at(value) { this.moment = value; this.draw(); }
  connectedCallback() {
    all.add(this);
    timer ||= setInterval(tick, 5000);
    this.draw();
  }
  disconnectedCallback() {
    all.delete(this);
    if (!all.size) { clearInterval(timer); timer = 0; }
  }
  draw() {
    if (!this.moment) return void (this.textContent = "—");
    const text = this.hasAttribute("day") ? dayAndTime(this.moment) : relative(this.moment);
    if (this.textContent !== text) this.textContent = text;
    const full = `${iso(this.moment)} · ${exact(this.moment)}`;
    if (this.title !== full) this.title = full;
  }
}
window.addEventListener("st-zone", tick);
customElements.define("st-time", RelativeTime);
