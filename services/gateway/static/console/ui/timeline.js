// Steps on a line: done ones filled, the next hollow, later ones pale. timeline([{ kind, text, title, to, current }, …])
import { html, nothing } from "../vendor/lit.js";

export const timeline = (label, steps) => html`<ol class="timeline" aria-label=${label}>${steps.map((step) => {
  const inside = html`<i class="${step.kind} ${step.current ? "current" : ""}" aria-hidden="true"></i><span>${step.text}</span>`;
  return html`<li title=${step.title || nothing}>${step.to ? html`<a href=${step.to} aria-label=${step.title || step.text} aria-current=${step.current ? "step" : nothing}>${inside}</a>` : html`<span class="node">${inside}</span>`}</li>`;
})}</ol>`;
