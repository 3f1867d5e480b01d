// The only file that talks to the server. It sends the header without which the cookie is not accepted.
export class ApiError extends Error {
  constructor(status, body, requestId) {
    const error = (body && body.error) || {};
    super(error.message || `The server answered ${status}.`);
    this.status = status;
    this.code = error.code || `http_${status}`;
    this.detail = (body && body.detail) || [];
    this.requestId = error.request_id || requestId || "";
  }
}

const quote = (text) => `'${String(text).replaceAll("'", "'\\''")}'`;

export class Api {
  // `credential` is the header that a program would send instead of the cookie.
  constructor(base, credential) {
    this.base = base;
    this.credential = credential;
    this.calls = [];
    this.onEnded = () => {};
    this.onCall = () => {};
  }

  async request(method, path, { query, body, raw, signal, headers, quiet } = {}) {
    const target = this.base + path + text(query);
    const sent = { "X-Studio-Console": "1", ...headers };
    if (body !== undefined) sent["Content-Type"] = "application/json";
    const payload = body !== undefined ? JSON.stringify(body) : raw;
    if (!quiet) this.remember(method, target, body, raw !== undefined);
    const answer = await fetch(target, { method, headers: sent, body: payload, signal, credentials: "same-origin", cache: "no-store" });
    const content = await answer.text();
    let parsed = null;
    try { parsed = content ? JSON.parse(content) : null; } catch { parsed = null; }
    if (answer.ok) return parsed;
    const error = new ApiError(answer.status, parsed, answer.headers.get("X-Request-Id"));
    if (answer.status === 401) this.onEnded(error);
    throw error;
  }

  get(path, query, options) { return this.request("GET", path, { query, ...options }); }
  post(path, body, options) { return this.request("POST", path, { body, ...options }); }
  patch(path, body) { return this.request("PATCH", path, { body }); }
  delete(path) { return this.request("DELETE", path); }

  // All rows of a list, up to `most`, and whether there were more.
  async all(path, query, most = 1000, options) {
    const rows = [];
    let cursor;
    do {
      const page = await this.get(path, { limit: 200, ...query, cursor }, options);
      rows.push(...page.data);
      cursor = page.next_cursor;
    } while (cursor && rows.length < most);
    return { rows, more: Boolean(cursor) };
  }

  remember(method, target, body, file) {
    const words = ["curl -sS"];
    if (method !== "GET") words.push(`-X ${method}`);
    words.push(`-H ${this.credential}`);
    if (body !== undefined) words.push("-H 'Content-Type: application/json'", `-d ${quote(JSON.stringify(body))}`);
    if (file) words.push("--data-binary @data.ndjson");
    words.push(quote(location.origin + target));
    const line = words.join(" ");
    this.calls = [line, ...this.calls.filter((known) => known !== line)].slice(0, 12);
    this.onCall();
  }
}

function text(query) {
  const given = Object.entries(query || {}).filter(([, value]) => value !== undefined && value !== null && value !== "");
  return given.length ? `?${new URLSearchParams(given)}` : "";
}

// Signing in and out are not part of the API: they set and clear the cookie.
export async function session(method, body) {
  const answer = await fetch("/console/session", {
    method, credentials: "same-origin", body: body && JSON.stringify(body),
    headers: { "X-Studio-Console": "1", ...(body ? { "Content-Type": "application/json" } : {}) },
  });
  if (answer.status === 204) return null;
  const parsed = await answer.json();
  if (!answer.ok) throw new ApiError(answer.status, parsed, answer.headers.get("X-Request-Id"));
  return parsed;
}
