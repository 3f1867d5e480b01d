"use strict";
(() => {
  // The operators' page names its own document.
  const DOCUMENT = document.documentElement.dataset.document || "/partner/v1/openapi.json";
  const METHODS = ["get", "post", "put", "patch", "delete"];
  const $ = (id) => document.getElementById(id);

  // Everything that comes from the document enters the page as text nodes; nothing is ever parsed as HTML.
  function h(tag, props, ...children) {
    const node = document.createElement(tag);
    for (const [name, value] of Object.entries(props || {})) {
      if (value === null || value === undefined || value === false) continue;
      if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
      else node.setAttribute(name, value === true ? "" : String(value));
    }
    for (const child of children.flat()) {
      if (child !== null && child !== undefined && child !== "") node.append(child);
    }
    return node;
  }

  // Paragraphs, `code` and **bold** are all the markup that descriptions use.
  function inline(text) {
    return text.split(/(`[^`]+`|\*\*[^*]+\*\*)/).map((part) => {
      if (part.startsWith("`") && part.length > 2) return h("code", {}, part.slice(1, -1));
      if (part.startsWith("**") && part.length > 4) return h("strong", {}, part.slice(2, -2));
      return part;
    });
  }
  const prose = (text) =>
    h("div", { class: "prose" }, String(text || "").split(/\n{2,}/).filter(Boolean).map((part) => h("p", {}, inline(part))));

  function json(value) {
    const text = JSON.stringify(value, null, 2);
    const token = /("(?:\\.|[^"\\])*")(\s*:)?|\b(true|false|null)\b|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g;
    const parts = [];
    let last = 0;
    for (const found of text.matchAll(token)) {
      parts.push(text.slice(last, found.index));
      const kind = found[2] ? "k" : found[1] ? "s" : found[3] ? "l" : "n";
      parts.push(h("span", { class: kind }, found[1] || found[0]));
      if (found[2]) parts.push(found[2]);
      last = found.index + found[0].length;
    }
    parts.push(text.slice(last));
    return h("pre", { tabindex: "0" }, parts);
  }

  function copyButton(text, label) {
    const button = h("button", { class: "copy", type: "button", "aria-label": label }, "Copy");
    button.addEventListener("click", async () => {
      let done = true;
      try { await navigator.clipboard.writeText(text()); } catch { done = copyBySelection(text()); }
      button.textContent = done ? "Copied" : "Press Ctrl+C";
      setTimeout(() => { button.textContent = "Copy"; }, 1600);
    });
    return button;
  }
  // Without https there is no clipboard API.
  function copyBySelection(text) {
    const area = h("textarea", { class: "unseen", "aria-hidden": "true" });
    area.value = text;
    document.body.append(area);
    area.select();
    const done = document.execCommand("copy");
    area.remove();
    return done;
  }
  const bar = (title, ...rest) => h("div", { class: "bar" }, h("span", {}, title), ...rest);

  // ---- the document -------------------------------------------------------------------------------------
  let api = null;
  function resolve(thing) {
    for (let hops = 0; thing && thing.$ref && hops < 20; hops += 1) {
      const found = thing.$ref.split("/").slice(1).reduce((at, key) => (at === undefined ? at : at[key]), api);
      thing = found === undefined ? {} : { ...found, ...without(thing, "$ref") };
    }
    return thing || {};
  }
  const without = (object, key) => Object.fromEntries(Object.entries(object).filter(([name]) => name !== key));
  const refName = (schema) => (schema.$ref ? schema.$ref.split("/").pop() : null);

  function variants(schema) {
    const whole = resolve(schema);
    const all = whole.anyOf || whole.oneOf;
    if (!all) return { nullable: false, choices: [schema] };
    const nullish = (choice) => choice.type === "null";
    return { nullable: all.some(nullish), choices: all.filter((choice) => !nullish(choice)) };
  }
  function kindOf(schema) {
    const { nullable, choices } = variants(schema);
    const names = choices.map((choice) => {
      const whole = resolve(choice);
      if (whole.type === "array") return whole.items ? `array of ${kindOf(whole.items)}` : "array";
      if (whole.properties && refName(choice)) return refName(choice);
      if (Array.isArray(whole.type)) return whole.type.join(" or ");
      if (!whole.type && whole.allOf) return "object";
      return [whole.type || (whole.const !== undefined ? typeof whole.const : "any value"), whole.format && `(${whole.format})`].filter(Boolean).join(" ");
    });
    return [...new Set(names)].join(" or ") + (nullable ? " or null" : "");
  }
  function limitsOf(schema) {
    const said = [];
    for (const choice of variants(schema).choices) {
      const s = resolve(choice);
      if (s.minimum !== undefined || s.maximum !== undefined) said.push(range(s.minimum, s.maximum, ""));
      if (s.minLength !== undefined || s.maxLength !== undefined) said.push(range(s.minLength, s.maxLength, " characters"));
      if (s.minItems !== undefined || s.maxItems !== undefined) said.push(range(s.minItems, s.maxItems, " items"));
    }
    const fallback = resolve(schema).default;
    if (fallback !== undefined && fallback !== "" && typeof fallback !== "object") said.push(`default ${JSON.stringify(fallback)}`);
    return said;
  }
  const range = (low, high, unit) =>
    (low !== undefined && high !== undefined ? `${low} to ${high}` : low !== undefined ? `at least ${low}` : `at most ${high}`) + unit;
  function choicesOf(schema) {
    return variants(schema).choices.flatMap((choice) => {
      const whole = resolve(choice);
      const inner = whole.type === "array" && whole.items ? resolve(whole.items) : whole;
      return inner.enum || (inner.const !== undefined ? [inner.const] : []);
    });
  }
  function childrenOf(schema) {
    for (const choice of variants(schema).choices) {
      let whole = resolve(choice);
      if (whole.type === "array" && whole.items) whole = resolve(variants(whole.items).choices[0] || {});
      if (whole.properties && Object.keys(whole.properties).length) return whole;
    }
    return null;
  }
  function field(name, schema, required, extra) {
    const whole = resolve(schema);
    const choices = choicesOf(schema);
    const inner = childrenOf(schema);
    const limits = limitsOf(schema);
    const about = (extra && extra.description) || whole.description;
    return h("div", { class: "field" },
      h("div", { class: "field-head" },
        h("span", { class: "name" }, name),
        h("span", { class: "kind" }, [kindOf(schema), ...limits].join(" · ")),
        required ? h("span", { class: "must" }, "required") : null),
      about ? h("p", {}, inline(about)) : null,
      choices.length ? h("div", { class: "chips" }, choices.map((choice) => h("code", {}, String(choice)))) : null,
      inner ? nested(inner) : null);
  }
  // Drawn when it is opened: schemas may hold one another.
  function nested(schema) {
    const count = Object.keys(schema.properties).length;
    const box = h("details", { class: "more" }, h("summary", {}, `${count} field${count === 1 ? "" : "s"}`));
    box.addEventListener("toggle", () => { if (box.children.length === 1) box.append(fields(schema, true)); });
    return box;
  }
  function fields(schema, quiet) {
    const whole = resolve(schema);
    const must = whole.required || [];
    return h("div", { class: "fields" },
      Object.entries(whole.properties || {}).map(([name, inner]) => field(name, inner, !quiet && must.includes(name))));
  }

  // ---- operations ---------------------------------------------------------------------------------------
  const media = (thing) => (thing && thing.content && thing.content["application/json"]) || null;
  const shell = (text) => `'${text.replaceAll("'", "'\\''")}'`;
  const baseUrl = () => location.origin + api.servers[0].url;

  function curl(op, path, method) {
    const good = resolve(op.responses[goodStatus(op)]);
    const shown = media(good) && media(good).example;
    const row = shown && Array.isArray(shown.data) ? shown.data[0] : shown;
    const names = [...path.matchAll(/\{(\w+)\}/g)].map((found) => found[1]);
    let url = path;
    names.forEach((name, index) => {
      const last = index === names.length - 1 && path.endsWith("}");
      const value = (row && row[name]) || (last && row && row.id) || name.toUpperCase();
      url = url.replace(`{${name}}`, value);
    });
    const parameters = op.parameters.map(resolve);
    const limited = parameters.some((one) => one.in === "query" && one.name === "limit");
    const lines = [`curl ${method === "get" ? "" : `-X ${method.toUpperCase()} `}"${baseUrl()}${url}${limited ? "?limit=10" : ""}"`];
    lines.push(api.components.securitySchemes.ServiceKey ? '-H "X-Service-Key: $STUDIO_KEY"' : '-H "Authorization: Bearer $STUDIO_OPERATOR_TOKEN"');
    if (parameters.some((one) => one.name === "Idempotency-Key")) lines.push('-H "Idempotency-Key: $(uuidgen)"');
    const body = media(op.requestBody);
    if (body) {
      lines.push('-H "Content-Type: application/json"');
      if (body.example !== undefined) lines.push(`-d ${shell(JSON.stringify(body.example))}`);
    }
    return lines.join(" \\\n  ");
  }
  const goodStatus = (op) => Object.keys(op.responses).find((status) => status.startsWith("2"));

  function errorsOf(op) {
    const rows = [];
    for (const [status, response] of Object.entries(op.responses)) {
      if (!/^[45]\d\d$/.test(status)) continue;
      const whole = resolve(response);
      const named = Object.entries((media(whole) || {}).examples || {});
      for (const [code, { value }] of named) {
        rows.push({ status, code, value, message: status === "403" || status === "422" ? whole.description : value.error.message });
      }
    }
    return rows;
  }
  function errorTable(rows) {
    return h("div", { class: "scroll" }, h("table", {},
      h("thead", {}, h("tr", {}, ["Status", "Code", "Meaning"].map((name) => h("th", { scope: "col" }, name)))),
      h("tbody", {}, rows.map((row) => h("tr", {},
        h("td", {}, row.status), h("td", {}, h("code", {}, row.code)), h("td", {}, inline(row.message)))))));
  }
  const COMMON = new Set(["400:unsupported_api_version", "401:", "403:", "413:", "415:", "429:", "500:", "503:", "504:"]);
  const isCommon = (row) => COMMON.has(`${row.status}:`) || COMMON.has(`${row.status}:${row.code}`);

  // One example serves every operation in the document; here it may as well name the scope of this one.
  function forScope(value, scope) {
    const wanted = value.error.details.required_scope;
    return wanted && scope ? JSON.parse(JSON.stringify(value).replaceAll(wanted, scope)) : value;
  }
  function answers(op) {
    const status = goodStatus(op);
    const answer = resolve(op.responses[status]);
    const content = media(answer);
    const known = [];
    if (content && content.example !== undefined) known.push({ name: `${status} ${String(answer.description).replace(/\.$/, "")}`, value: content.example });
    for (const row of errorsOf(op)) known.push({ name: `${row.status} ${row.code}`, value: forScope(row.value, op["x-required-scope"]) });
    const place = h("div", {});
    const choose = h("select", { "aria-label": "Example answer" }, known.map((one, index) => h("option", { value: index }, one.name)));
    const show = () => place.replaceChildren(json(known[choose.value].value));
    choose.addEventListener("change", show);
    if (known.length) show();
    const empty = content ? null : h("pre", {}, `${status}: no body`);
    return [bar("Answer", known.length ? choose : null), empty, place];
  }

  function card(path, method, op) {
    const verb = method.toUpperCase();
    const parameters = op.parameters.map(resolve);
    const body = media(op.requestBody);
    const good = media(resolve(op.responses[goodStatus(op)]));
    const rows = errorsOf(op);
    const own = rows.filter((row) => !isCommon(row));
    const common = rows.filter(isCommon);
    const line = curl(op, path, method);
    const sections = [];
    const listed = (some) => h("div", { class: "fields" }, some.map((one) => field(one.name, one.schema, one.required, one)));
    for (const [place, title] of [["path", "Path"], ["query", "Query"], ["header", "Headers"]]) {
      const some = parameters.filter((one) => one.in === place && (place !== "header" || one.required));
      if (some.length) sections.push(h("h4", {}, title), listed(some));
    }
    const optional = parameters.filter((one) => one.in === "header" && !one.required);
    if (optional.length) sections.push(h("details", { class: "more" }, h("summary", {}, "optional headers"), listed(optional)));
    if (body) sections.push(h("h4", {}, "Body"), fields(body.schema));
    if (good) {
      const whole = resolve(good.schema);
      const item = whole.properties && whole.properties.has_more ? whole.properties.data.items : null;
      const about = resolve(item || good.schema).description;
      const inner = childrenOf(item || good.schema);
      sections.push(h("h4", {}, "Answer"), h("div", { class: "field" },
        h("div", { class: "field-head" }, h("span", { class: "name" }, item ? `list of ${kindOf(item)}` : kindOf(good.schema))),
        about ? h("p", {}, inline(about)) : null, inner ? nested(inner) : null));
    }
    if (own.length) sections.push(h("h4", {}, "Errors"), errorTable(own));
    if (common.length) {
      const more = h("details", { class: "more" }, h("summary", {}, own.length ? "errors of every operation" : "errors"), errorTable(common));
      sections.push(own.length ? more : h("div", {}, h("h4", {}, "Errors"), more));
    }
    return h("article", { class: "op", id: op.operationId, "aria-labelledby": `${op.operationId}-title` },
      h("div", { class: "words" },
        h("h3", { id: `${op.operationId}-title` }, h("a", { href: `#${op.operationId}` }, op.summary)),
        h("div", { class: "where" },
          h("span", { class: `pill ${verb}` }, verb),
          h("span", { class: "path" }, path.split(/(\{\w+\})/).map((part) => (part.startsWith("{") ? h("b", {}, part) : part))),
          h("span", { class: "scope", title: "Who may call this" }, op["x-required-scope"] || op["x-required-role"] || "any key")),
        prose(String(op.description || "").replace(/\n*(Required scope: `[^`]*`\.|Any valid key may call this\.)\s*$/, "")),
        sections),
      h("div", { class: "code" }, h("div", {},
        bar("Request", copyButton(() => line, `Copy the curl line of ${op.summary}`)), h("pre", { tabindex: "0" }, line), answers(op))));
  }

  function eventCard(kind, op) {
    const content = media(op.requestBody);
    return h("article", { class: "op", id: op.operationId, "aria-labelledby": `${op.operationId}-title` },
      h("div", { class: "words" },
        h("h3", { id: `${op.operationId}-title` }, h("a", { href: `#${op.operationId}` }, op.summary)),
        h("div", { class: "where" }, h("span", { class: "pill EVENT" }, "EVENT"), h("span", { class: "path" }, kind),
          h("span", { class: "scope", title: "The scope that the endpoint's key needs" }, op["x-required-scope"] || "no scope")),
        prose(op.description),
        h("h4", {}, "Body"),
        h("div", { class: "fields" }, field("data.object", content.schema.properties.data.properties.object, false)),
        h("details", { class: "more" }, h("summary", {}, "the envelope around it"), fields(content.schema, true)),
        h("details", { class: "more" }, h("summary", {}, "signature headers"),
          h("div", { class: "fields" }, op.parameters.map((one) => field(one.name, one.schema, false, one))))),
      h("div", { class: "code" }, h("div", {}, bar("Delivery"), json(content.example))));
  }

  // ---- the page -----------------------------------------------------------------------------------------
  const GUIDES = [["authentication", "Authentication"], ["errors", "Errors"], ["pagination", "Pagination"], ["idempotency", "Idempotency"], ["limits", "Rate limits and times"], ["signing", "Webhook signatures"], ["versioning", "Versions"]];
  const links = [];

  function navGroup(title, entries) {
    const heading = h("h2", {}, title);
    const nodes = entries.map((entry) => {
      const link = h("a", { href: `#${entry.id}` }, entry.verb ? h("span", { class: `verb ${entry.verb}` }, entry.short || entry.verb) : null, h("span", {}, entry.title));
      links.push({ link, heading, id: entry.id, text: `${entry.title} ${entry.verb || ""} ${entry.find || ""}`.toLowerCase() });
      return link;
    });
    $("nav").append(heading, ...nodes);
  }

  function draw() {
    $("version").textContent = api.info.version;
    $("base").textContent = baseUrl();
    $("base").after(copyButton(baseUrl, "Copy the base URL"));
    if ($("auth-example")) {
      drawGuides();
      navGroup("Guide", GUIDES.map(([id, title]) => ({ id, title })));
    }
    const groups = new Map(api.tags.map((tag) => [tag.name, { tag, found: [] }]));
    for (const [path, methods] of Object.entries(api.paths)) {
      for (const method of METHODS) {
        if (methods[method]) groups.get(methods[method].tags[0]).found.push([path, method, methods[method]]);
      }
    }
    const reference = $("reference");
    reference.replaceChildren();
    for (const { tag, found } of groups.values()) {
      if (!found.length) continue;
      reference.append(h("section", { class: "group", "aria-label": tag.name }, h("h2", {}, tag.name), h("p", {}, tag.description), found.map((one) => card(...one))));
      navGroup(tag.name, found.map(([path, method, op]) => ({ id: op.operationId, title: op.summary, verb: method.toUpperCase(), short: method === "delete" ? "DEL" : null, find: `${path} ${op.operationId} ${op["x-required-scope"] || ""}` })));
    }
    const events = Object.entries(api.webhooks || {});
    if (events.length) {
      reference.append(h("section", { class: "group", "aria-label": "Event kinds" }, h("h2", {}, "Event kinds"), h("p", {}, "What is delivered to your webhook endpoints and kept in the event log."), events.map(([kind, item]) => eventCard(kind, item.post))));
      navGroup("Event kinds", events.map(([kind, item]) => ({ id: item.post.operationId, title: kind, find: item.post.summary })));
    }
    $("nav").append(h("p", { class: "none", id: "nothing", hidden: true }, "Nothing fits."));
    follow();
    if (location.hash) jump(location.hash.slice(1));
  }

  function drawGuides() {
    const key = `curl "${baseUrl()}/key" \\\n  -H "X-Service-Key: $STUDIO_KEY"`;
    const own = media(resolve(((api.paths["/key"] || {}).get || { responses: { 200: {} } }).responses["200"]));
    $("auth-example").append(bar("Which key is this?", copyButton(() => key, "Copy the curl line")), h("pre", { tabindex: "0" }, key));
    if (own && own.example) $("auth-example").append(h("div", { class: "gap" }), json(own.example));
    const refused = resolve(api.components.responses.NotFound).content["application/json"].examples.not_found;
    $("error-example").append(json(refused.value));
    $("page-example").append(json({ object: "list", data: ["…"], has_more: true, next_cursor: "0b6f3c52-7a55-4d0e-9d8a-4c1c3f1f2e11" }));
    const sample = [
      "import base64, hashlib, hmac, time", "",
      "def is_genuine(secret, headers, body):",
      '    sent = headers["webhook-id"]', '    at = headers["webhook-timestamp"]',
      "    if abs(time.time() - int(at)) > 300:", "        return False",
      '    key = base64.b64decode(secret.removeprefix("whsec_"))',
      '    signed = f"{sent}.{at}.".encode() + body',
      "    digest = hmac.new(key, signed, hashlib.sha256).digest()",
      '    wanted = "v1," + base64.b64encode(digest).decode()',
      '    given = headers["webhook-signature"].split()',
      "    same = hmac.compare_digest", "    return any(same(wanted, one) for one in given)",
    ].join("\n");
    $("signing-example").append(bar("Python", copyButton(() => sample, "Copy the sample")), h("pre", { tabindex: "0" }, sample));
    const seen = new Map();
    for (const methods of Object.values(api.paths)) {
      for (const method of METHODS) {
        if (methods[method]) for (const row of errorsOf(methods[method])) seen.set(`${row.status} ${row.code}`, row);
      }
    }
    $("all-codes").append(errorTable([...seen.keys()].sort().map((key) => seen.get(key))));
  }

  function jump(id) {
    const target = $(id);
    if (target) target.scrollIntoView({ block: "start" });
  }

  // The sidebar marks what is on screen.
  function follow() {
    const byId = new Map(links.map((entry) => [entry.id, entry.link]));
    const visible = new Set();
    const watch = new IntersectionObserver((entries) => {
      for (const entry of entries) entry.isIntersecting ? visible.add(entry.target.id) : visible.delete(entry.target.id);
      const here = links.find((entry) => visible.has(entry.id));
      for (const [id, link] of byId) {
        const on = here !== undefined && id === here.id;
        link.classList.toggle("here", on);
        if (on) { link.setAttribute("aria-current", "true"); reveal(link); } else link.removeAttribute("aria-current");
      }
    }, { rootMargin: "-8% 0px -62% 0px" });
    for (const id of byId.keys()) if ($(id)) watch.observe($(id));
  }
  function reveal(link) {
    const nav = $("nav");
    const top = link.offsetTop - nav.offsetTop;
    if (top < nav.scrollTop || top > nav.scrollTop + nav.clientHeight - 40) nav.scrollTop = top - nav.clientHeight / 3;
  }

  function filter() {
    const words = $("search").value.toLowerCase().split(/\s+/).filter(Boolean);
    const shown = new Set();
    for (const { link, heading, text } of links) {
      const fits = words.every((word) => text.includes(word));
      link.hidden = !fits;
      if (fits) shown.add(heading);
    }
    for (const { heading } of links) heading.hidden = !shown.has(heading);
    if ($("nothing")) $("nothing").hidden = shown.size > 0;
  }
  const shownLinks = () => links.filter(({ link }) => !link.hidden).map(({ link }) => link);

  function drawer(open) {
    $("shell").classList.toggle("open", open);
    $("menu").setAttribute("aria-expanded", String(open));
    if (open) $("search").focus();
  }

  $("search").addEventListener("input", filter);
  $("search").addEventListener("keydown", (event) => {
    const first = shownLinks()[0];
    if (event.key === "Enter" && first) first.click();
    if (event.key === "ArrowDown" && first) { event.preventDefault(); first.focus(); }
    if (event.key === "Escape") { $("search").value = ""; filter(); $("search").blur(); drawer(false); }
  });
  $("nav").addEventListener("keydown", (event) => {
    if (event.key !== "ArrowDown" && event.key !== "ArrowUp") return;
    event.preventDefault();
    const all = shownLinks();
    const next = all[all.indexOf(document.activeElement) + (event.key === "ArrowDown" ? 1 : -1)];
    (next || $("search")).focus();
  });
  $("nav").addEventListener("click", (event) => { if (event.target.closest("a")) drawer(false); });
  $("menu").addEventListener("click", () => drawer(!$("shell").classList.contains("open")));
  $("veil").addEventListener("click", () => drawer(false));
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape") drawer(false);
    const typing = /^(INPUT|SELECT|TEXTAREA)$/.test(document.activeElement.tagName);
    if (event.key === "/" && !typing && !event.ctrlKey && !event.metaKey) { event.preventDefault(); $("search").focus(); }
  });

  function theme(name) {
    document.documentElement.dataset.theme = name;
    $("theme").textContent = name === "dark" ? "Light" : "Dark";
    $("theme").setAttribute("aria-label", `Switch to ${name === "dark" ? "light" : "dark"} colours`);
  }
  let kept = null;
  try { kept = localStorage.getItem("theme"); } catch { /* storage may be off */ }
  const dark = matchMedia("(prefers-color-scheme: dark)");
  theme(kept === "dark" || kept === "light" ? kept : dark.matches ? "dark" : "light");
  dark.addEventListener("change", (event) => { if (!kept) theme(event.matches ? "dark" : "light"); });
  $("theme").addEventListener("click", () => {
    kept = document.documentElement.dataset.theme === "dark" ? "light" : "dark";
    theme(kept);
    try { localStorage.setItem("theme", kept); } catch { /* storage may be off */ }
  });

  async function load() {
    try {
      const answer = await fetch(DOCUMENT, { credentials: "omit" });
      if (!answer.ok) throw new Error(`${answer.status}`);
      api = await answer.json();
    } catch (problem) {
      const again = h("button", { class: "ghost", type: "button", onclick: load }, "Try again");
      $("reference").replaceChildren(h("p", { class: "notice", role: "alert" }, `The document at ${DOCUMENT} could not be read (${problem.message}). `, again));
      return;
    }
    draw();
  }
  load();
})();
