// A list at the left and, when something is open, its pane at the right; under 820 px the pane covers the page.
import { html, nothing } from "../vendor/lit.js";
import { icon } from "./marks.js";

// split({ side, pane, label, close, hint }): `pane` is null when nothing is open, `close` the address without it (Esc goes there).
export const split = ({ side, pane = null, label = "Details", close, hint = nothing }) => html`<div class="split ${pane ? "open" : ""}">
  <section class="side">${side}</section>
  ${pane ? html`<section class="pane" tabindex="-1" aria-label=${label}><a class="pane-close" data-close href=${close} aria-label="Close" title="Close (Esc)">${icon("close")}</a>${pane}</section>`
    : html`<section class="pane hint" aria-label=${label}>${hint}</section>`}</div>`;

// The chain of a thing as a breadcrumb: [[text, address or null for what is shown], …]
export const crumbs = (parts) => html`<nav class="crumbs" aria-label="Chain"><ol>${parts.filter(Boolean).map(([text, to]) => html`<li>${to ? html`<a href=${to}>${text}</a>` : html`<strong aria-current="true">${text}</strong>`}</li>`)}</ol></nav>`;
// Name and value pairs; a pair whose value is null, undefined or "" is left out.
export const facts = (pairs) => html`<dl class="facts">${pairs.filter((pair) => pair && pair[1] !== null && pair[1] !== undefined && pair[1] !== "").map(([name, value]) => html`<div><dt>${name}</dt><dd>${value}</dd></div>`)}</dl>`;
// Tabs by address: [[name, text, address], …]
export const tabs = (label, parts, chosen) => html`<nav class="tabs" aria-label=${label}>${parts.map(([name, text, to]) => html`<a href=${to} aria-current=${name === chosen ? "page" : nothing}>${text}</a>`)}</nav>`;
