import { ApiError, ConnectionFailed, SecretLost } from "./errors.js";
import type { Problem } from "./errors.js";
import { ResponseCache } from "./cache.js";
import { withUnknownKinds } from "./unknown.js";
import { ERRORS } from "./generated/errors.js";
import { API_VERSION } from "./generated/version.js";
import { VERSION } from "./version.js";

/** Options of every call, given in the same object as its fields. */
export interface CallOptions {
  /** Milliseconds for each attempt, instead of the client's. */
  timeout?: number;
  /** How often it is tried again, instead of the client's. */
  retries?: number;
  /** Ends the call, its retries included. */
  signal?: AbortSignal;
}

/** Options of a call that writes. */
export interface WriteOptions extends CallOptions {
  /** 8 to 120 characters; made for you when left out. The same key never has a second effect within 24 hours. */
  idempotencyKey?: string;
}

/** How a method is sent; the generated file has one for each. */
export interface Operation {
  method: string;
  /** Each `{}` is replaced by an id. */
  path: string;
  /** The fields that go into the query; all others are the body. */
  query: readonly string[];
  hasBody?: true;
  takesKey?: true;
  /** The field that a replay cannot show. */
  secret?: string;
  /** The response is an event, or a page of them. */
  events?: true;
}

export interface TransportOptions {
  key: string;
  baseUrl: string;
  timeout: number;
  retries: number;
  cache: boolean;
  fetch: typeof fetch;
}

type Fields = Record<string, unknown>;

interface Limits {
  timeout: number;
  retries: number;
  signal: AbortSignal | undefined;
}

interface Attempt {
  status: number;
  headers: Headers;
  text: string;
}

const RETRIED = new Set([429, 503, 504]);
// The first attempt of the same write is still running: its result is worth waiting for.
const IN_PROGRESS = "idempotency_in_progress";
const FIRST_WAIT_MS = 250;
const LONGEST_WAIT_MS = 8_000;
// Who is asked to wait for longer decides for themselves.
const LONGEST_RETRY_AFTER_SECONDS = 60;

/** Sends requests: retries, one Idempotency-Key for each write, cached responses, errors by their code. */
export class Transport {
  readonly #options: TransportOptions;
  readonly #baseUrl: string;
  readonly #headers: Record<string, string>;
  readonly #cache: ResponseCache | undefined;

  constructor(options: TransportOptions) {
    this.#options = options;
    this.#baseUrl = options.baseUrl.replace(/\/+$/, "");
    this.#headers = {
      Accept: "application/json",
      "User-Agent": `studio-partner-typescript/${VERSION}`,
      "X-API-Version": API_VERSION,
      "X-Service-Key": options.key,
    };
    this.#cache = options.cache ? new ResponseCache() : undefined;
  }

  async send<T>(operation: Operation, ids: readonly string[], given: object = {}): Promise<T> {
    const { timeout, signal, retries, idempotencyKey, ...fields } = given as WriteOptions & Fields;
    // The API answers that much later.
    const waits = typeof fields["wait"] === "number" ? fields["wait"] * 1_000 : 0;
    const url = this.#baseUrl + pathOf(operation, ids) + queryOf(operation, fields);
    const headers = { ...this.#headers };
    const key = operation.takesKey ? (idempotencyKey ?? crypto.randomUUID()) : null;
    if (key !== null) headers["Idempotency-Key"] = key;
    const cache = operation.method === "GET" && waits === 0 ? this.#cache : undefined;
    const cached = cache?.get(url);
    if (cached) headers["If-None-Match"] = cached.etag;
    const request: RequestInit = { method: operation.method, headers, redirect: "manual" };
    if (operation.hasBody) {
      headers["Content-Type"] = "application/json";
      request.body = JSON.stringify(fields);
    }
    const limits = {
      timeout: (timeout ?? this.#options.timeout) + waits,
      retries: retries ?? this.#options.retries,
      signal,
    };
    const received = await this.#retrying(url, request, limits, key);
    if (received.status === 304 && cached) return parsed(cached.text, operation, key) as T;
    const etag = received.headers.get("etag");
    if (etag) cache?.set(url, etag, received.text);
    const body = parsed(received.text, operation, key);
    if (operation.secret && isObject(body) && body[operation.secret] === null) {
      throw new SecretLost(operation.secret, body, key);
    }
    return body as T;
  }

  /** A good response, or the last problem once the retries are used up. */
  async #retrying(url: string, request: RequestInit, limits: Limits, key: string | null): Promise<Attempt> {
    for (let retry = 0; ; retry++) {
      const outcome = await this.#attempt(url, request, limits, key);
      if (!(outcome instanceof ConnectionFailed) && isGood(outcome.status)) return outcome;
      const problem = outcome instanceof ConnectionFailed ? outcome : errorOf(outcome, key);
      const wait = retry < limits.retries ? waitBefore(retry, problem, limits.retries) : null;
      if (wait === null) throw problem;
      await sleep(wait, limits.signal);
    }
  }

  async #attempt(
    url: string,
    request: RequestInit,
    { timeout, signal }: Limits,
    key: string | null,
  ): Promise<Attempt | ConnectionFailed> {
    signal?.throwIfAborted();
    const ending = new AbortController();
    const abort = (): void => ending.abort(signal?.reason);
    signal?.addEventListener("abort", abort, { once: true });
    const timer = setTimeout(() => ending.abort(new Error(`no response within ${timeout} ms`)), timerOf(timeout));
    try {
      const response = await this.#options.fetch(url, { ...request, signal: ending.signal });
      return { status: response.status, headers: response.headers, text: await response.text() };
    } catch (cause) {
      signal?.throwIfAborted();
      // Without the query: it may hold an email address, and messages are logged.
      return new ConnectionFailed(`${request.method} ${url.split("?")[0]}: ${reasonOf(cause)}`, key, cause);
    } finally {
      clearTimeout(timer);
      signal?.removeEventListener("abort", abort);
    }
  }
}

function pathOf(operation: Operation, ids: readonly string[]): string {
  let index = 0;
  return operation.path.replaceAll("{}", () => {
    const id = ids[index++];
    // Each of these would be sent to another route.
    if (typeof id !== "string" || ["", ".", ".."].includes(id)) {
      throw new TypeError(`${operation.method} ${operation.path}: "${id}" is not an id`);
    }
    return encodeURIComponent(id);
  });
}

/** Takes the query's fields out of `fields`; what is left is the body. */
function queryOf(operation: Operation, fields: Fields): string {
  if (operation.query.length === 0) return "";
  const query = new URLSearchParams();
  for (const name of operation.query) {
    const value = fields[name];
    delete fields[name];
    if (value === undefined || value === null) continue;
    query.append(name, value instanceof Date ? value.toISOString() : String(value));
  }
  const text = query.toString();
  return text && `?${text}`;
}

function isGood(status: number): boolean {
  return (status >= 200 && status < 300) || status === 304;
}

function parsed(text: string, operation: Operation, key: string | null): unknown {
  if (text === "") return undefined;
  try {
    const body: unknown = JSON.parse(text);
    return operation.events ? withUnknownKinds(body) : body;
  } catch (cause) {
    throw new ConnectionFailed(`${operation.method} ${operation.path}: the response is not JSON`, key, cause);
  }
}

function errorOf(received: Attempt, idempotencyKey: string | null): ApiError {
  let body: unknown;
  try {
    body = JSON.parse(received.text);
  } catch {
    // A proxy's own page, for example.
  }
  const error: Fields = isObject(body) && isObject(body["error"]) ? body["error"] : {};
  const code = typeof error["code"] === "string" ? error["code"] : `http_${received.status}`;
  const Kind = Object.hasOwn(ERRORS, code) ? ERRORS[code as keyof typeof ERRORS] : ApiError;
  return new Kind({
    status: received.status,
    code,
    type: textOr(error["type"], "api_error"),
    message: textOr(error["message"], `The response has the status ${received.status}.`),
    param: typeof error["param"] === "string" ? error["param"] : null,
    details: isObject(error["details"]) ? error["details"] : {},
    requestId: textOr(error["request_id"], received.headers.get("x-request-id")),
    problems: isObject(body) && Array.isArray(body["detail"]) ? (body["detail"] as Problem[]) : [],
    retryAfter: secondsOf(received.headers.get("retry-after")),
    idempotencyKey,
  });
}

/** Milliseconds until the next attempt; null if there is to be none. */
function waitBefore(retry: number, problem: ApiError | ConnectionFailed, retries: number): number | null {
  const backoff = Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 2 ** retry) * (0.5 + Math.random() / 2);
  if (problem instanceof ConnectionFailed) return backoff;
  if (!RETRIED.has(problem.status) && problem.code !== IN_PROGRESS) return null;
  if (problem.retryAfter === null) return backoff;
  // The jitter comes on top, so that nobody is early and not everybody comes at once.
  const asked = problem.retryAfter;
  if (asked > LONGEST_RETRY_AFTER_SECONDS && retries !== Infinity) return null;
  return asked * 1_000 + (backoff / 2) * Math.random();
}

function secondsOf(header: string | null): number | null {
  if (!header) return null;
  const seconds = Number(header);
  if (Number.isFinite(seconds)) return Math.max(0, seconds);
  const date = Date.parse(header);
  return Number.isNaN(date) ? null : Math.max(0, (date - Date.now()) / 1_000);
}

/** A longer timer than this, `Infinity` included, would fire at once. */
function timerOf(milliseconds: number): number {
  return Math.min(milliseconds, 2 ** 31 - 1);
}

function sleep(milliseconds: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = (): void => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener("abort", stop);
      resolve();
    }, timerOf(milliseconds));
    if (signal?.aborted) stop();
    else signal?.addEventListener("abort", stop, { once: true });
  });
}

/** `fetch failed` says nothing; its cause says what was wrong. */
function reasonOf(problem: unknown): string {
  const cause = problem instanceof Error && problem.cause instanceof Error ? problem.cause : problem;
  return cause instanceof Error ? cause.message || cause.name : String(cause);
}

function isObject(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function textOr<T>(value: unknown, otherwise: T): string | T {
  return typeof value === "string" ? value : otherwise;
}
