import { Events } from "./events.js";
import { Operations } from "./generated/operations.js";
import { Transport } from "./transport.js";

export interface ClientOptions {
  /** `spk_live_…` or `spk_test_…`. It belongs on a server. */
  key: string;
  /** Ends in `/partner/v1`. */
  baseUrl: string;
  /** Milliseconds for each attempt. 30,000 by default. */
  timeout?: number;
  /** How often a call is tried again after 429, 503, 504 or a broken connection. 4 by default. */
  retries?: number;
  /** Keep responses and ask only whether they have changed. False by default. */
  cache?: boolean;
  /** Sends the requests, instead of the global `fetch`. */
  fetch?: typeof fetch;
}

/** The Studio Partner API with one key. Each operation is a method; a write happens once, however often it is tried. */
export class Client extends Operations {
  /** Follow what happens in the studio. */
  readonly events: Events;

  constructor({ key, baseUrl, timeout = 30_000, retries = 4, cache = false, fetch = globalThis.fetch }: ClientOptions) {
    // As a header it would be refused later, by an error that shows it.
    if (!/^[!-~]+$/.test(key ?? "")) throw new TypeError("key is missing, or has a space, a line break or a letter that no key has");
    if (!baseUrl) throw new TypeError("baseUrl is missing");
    if (key.startsWith("spk_live_") && isInPage()) {
      throw new Error("A live key must not be in a browser's page, where every visitor can read it: call from your server.");
    }
    // Some runtimes refuse a fetch that is called as a method of another object.
    const send: typeof fetch = (url, request) => fetch(url, request);
    super(new Transport({ key, baseUrl, timeout, retries, cache, fetch: send }));
    this.events = new Events(this);
  }
}

/** Servers and edge workers have no document, and do not call themselves Mozilla, as every browser and its workers do. */
function isInPage(): boolean {
  const { document, navigator } = globalThis as { document?: unknown; navigator?: { userAgent?: string } };
  return document !== undefined || Boolean(navigator?.userAgent?.startsWith("Mozilla/"));
}
