// The only file that talks to the server. It sends the header without which the cookie is not accepted.
export class ApiError extends Error {
  constructor(status, body, requestId) {
    const error = (body && body.error) || {};
    super(error.message || `The server answered ${status}.`);
    this.status = status;
    this.code = error.code || `http_${status}`;
    this.detail = (body && body.detail) || [];
    this.info = error;
    this.requestId = error.request_id || requestId || "";
  }
}

export const queryOf = (query) => {
  const given = Object.entries(query || {}).filter(([, value]) => value !== undefined && value !== null && value !== "");
  return given.length ? `?${new URLSearchParams(given)}` : "";
};
export const quote = (text) => `'${String(text).replaceAll("'", "'\\''")}'`;

async function reach(target, options) {
  try {
    return await fetch(target, { credentials: "same-origin", ...options });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw Object.assign(new ApiError(0, { error: { code: "offline", message: "The server cannot be reached." } }), { offline: true });
  }
}

export class Api {
  // `credential` is the header that a program would send instead of the cookie.
  constructor(base, credential) {
    this.base = base;
    this.credential = credential;
    this.onEnded = () => {};
  }

  async request(method, path, { query, body, raw, signal, headers, full } = {}) {
    const sent = { "X-Studio-Console": "1", ...headers };
    if (body !== undefined) sent["Content-Type"] = "application/json";
    const target = this.base + path + queryOf(query);
    const started = performance.now();
    const response = await reach(target, { method, headers: sent, body: body !== undefined ? JSON.stringify(body) : raw, signal, cache: "no-store" });
    const content = await response.text();
    let parsed = null;
    try { parsed = content ? JSON.parse(content) : null; } catch { parsed = null; }
    if (full) return { status: response.status, body: parsed, ms: Math.round(performance.now() - started), requestId: response.headers.get("X-Request-Id") };
    if (response.ok) return parsed;
    const error = new ApiError(response.status, parsed, response.headers.get("X-Request-Id"));
    if (response.status === 401) this.onEnded(error);
    throw error;
  }

  get(path, query, options) { return this.request("GET", path, { query, ...options }); }
  post(path, body, options) { return this.request("POST", path, { body, ...options }); }
  patch(path, body, options) { return this.request("PATCH", path, { body, ...options }); }
  delete(path, options) { return this.request("DELETE", path, options); }

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

  // The same call as a program would send it.
  curl(method, path, body) {
    const words = ["curl -sS", method !== "GET" && `-X ${method}`, `-H ${this.credential}`,
      method !== "GET" && `-H "Idempotency-Key: $(uuidgen)"`,
      body !== undefined && `-H 'Content-Type: application/json' -d ${quote(typeof body === "string" ? body : JSON.stringify(body))}`, quote(location.origin + this.base + path)];
    return words.filter(Boolean).join(" \\\n  ");
  }
}

// Signing in and out are not part of the API: they set and clear the cookie.
export async function session(method, body) {
  const response = await reach("/console/session", {
    method, body: body && JSON.stringify(body),
    headers: { "X-Studio-Console": "1", ...(body ? { "Content-Type": "application/json" } : {}) },
  });
  if (response.status === 204) return null;
  const parsed = await response.json();
  if (!response.ok) throw new ApiError(response.status, parsed, response.headers.get("X-Request-Id"));
  return parsed;
}
