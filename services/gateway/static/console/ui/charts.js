// <st-bars> and <st-line>: small SVG charts with the ends of their axis and the value under the pointer. They take percentages, so
// they need no measuring and no library: uPlot is 51 KB and draws on a canvas, which a screen reader and a test cannot read.
import { html, nothing, Piece, svg } from "./element.js";
import { clock, dayAndTime } from "./time.js";

const number = (value) => (value >= 10000 ? `${Math.round(value / 1000)}k` : value.toLocaleString("en", { maximumFractionDigits: 1 }));
class Chart extends Piece {
  static properties = { points: {}, kinds: {}, names: {}, height: { type: Number }, label: {}, unit: {}, over: { state: true }, range: { state: true }, pick: { type: Boolean }, axis: {} };
  constructor() { super(); Object.assign(this, { points: [], kinds: ["good"], names: [], height: 44, unit: "", over: null, range: null, pick: false, axis: true, label: "" }); }
  at(event) {
    const box = this.querySelector("svg").getBoundingClientRect();
    return Math.max(0, Math.min(this.points.length - 1, Math.floor(((event.clientX - box.left) / box.width) * this.points.length)));
  }
  told(point) {
    const parts = point.values.map((value, n) => `${number(value)}${this.unit}${this.names[n] ? ` ${this.names[n]}` : ""}`);
    return `${point.text || dayAndTime(point.at)}: ${parts.join(" · ")}`;
  }
  move(event) { this.over = this.at(event); if (this.range && event.buttons) this.range = [this.range[0], this.over]; }
  down(event) { if (this.pick) { this.range = [this.at(event), this.at(event)]; event.currentTarget.setPointerCapture(event.pointerId); } }
  up() {
    if (!this.range) return;
    const [first, last] = this.range.toSorted((a, b) => a - b);
    this.range = null;
    this.dispatchEvent(new CustomEvent("range", { detail: { first: this.points[first], last: this.points[last], step: this.points.length > 1 ? new Date(this.points[1].at) - new Date(this.points[0].at) : 0 } }));
  }
  frame(drawing) {
    const { points } = this;
    if (!points.length) return nothing;
    const sums = points.map((point) => point.values.reduce((a, b) => a + b, 0));
    const said = `${this.label}: ${points.length} steps, highest ${number(Math.max(...sums))}${this.unit}, last ${number(sums.at(-1))}${this.unit}`;
    const day = new Date(points.at(-1).at) - new Date(points[0].at) > 80000000;
    return html`<figure class="chart ${this.pick ? "pick" : ""}"><svg role="img" aria-label=${said} width="100%" height=${this.height} @pointermove=${this.move} @pointerleave=${() => { this.over = null; }} @pointerdown=${this.down} @pointerup=${this.up}>${drawing}</svg>
      ${this.axis ? html`<figcaption><span>${points[0].text || (day ? dayAndTime : clock)(points[0].at)}</span><span class="said">${this.over === null ? "" : this.told(points[this.over])}</span><span>${points.at(-1).text || "now"}</span></figcaption>` : nothing}</figure>`;
  }
}

// points: [{ at, values: [2xx, 4xx, 5xx] }], kinds: ["good", "warn", "bad"]; with `pick`, dragging tells a "range".
class Bars extends Chart {
  render() {
    const most = Math.max(1, ...this.points.map((point) => point.values.reduce((a, b) => a + b, 0)));
    const wide = 100 / this.points.length, high = this.height - 1;
    const chosen = this.range?.toSorted((a, b) => a - b);
    return this.frame(svg`${chosen ? svg`<rect class="chosen" x="${chosen[0] * wide}%" width="${(chosen[1] - chosen[0] + 1) * wide}%" height="100%"></rect>` : nothing}
      ${this.points.map((point, n) => {
        let y = this.height;
        const parts = point.values.map((value, kind) => {
          const part = value ? Math.max(2, (value / most) * high) : 0;
          y -= part;
          return value ? svg`<rect class="bar-${this.kinds[kind]}" x="${(n + 0.12) * wide}%" width="${wide * 0.76}%" y=${Math.max(0, y)} height=${part} rx="1.5"></rect>` : nothing;
        });
        const none = point.values.every((value) => !value);
        return svg`<g class=${n === this.over ? "over" : ""}>${none ? svg`<rect class="bar-none" x="${(n + 0.12) * wide}%" width="${wide * 0.76}%" y=${this.height - 2} height="2"></rect>` : parts}</g>`;
      })}`);
  }
}
class Line extends Chart {
  render() {
    const most = Math.max(1e-9, ...this.points.flatMap((point) => point.values));
    const step = 100 / Math.max(1, this.points.length - 1), high = this.height - 4;
    const y = (value) => this.height - 2 - (value / most) * high;
    return this.frame(svg`<svg viewBox="0 0 100 ${this.height}" preserveAspectRatio="none" width="100%" height=${this.height}>${this.kinds.map((kind, n) => svg`
      <polyline class="line-${kind}" vector-effect="non-scaling-stroke" points=${this.points.map((point, at) => `${at * step},${y(point.values[n] ?? 0)}`).join(" ")}></polyline>`)}
      ${this.over === null ? nothing : svg`<line class="cursor" vector-effect="non-scaling-stroke" x1=${this.over * step} x2=${this.over * step} y1="0" y2=${this.height}></line>`}</svg>
      <text class="top-value" x="0" y="10">${number(most < 1e-6 ? 0 : most)}${this.unit}</text>`);
  }
}
customElements.define("st-bars", Bars);
customElements.define("st-line", Line);
