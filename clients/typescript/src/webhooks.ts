import { WebhookVerificationError } from "./errors.js";
import { typedEvent } from "./unknown.js";
import type { Event } from "./generated/events.js";

/** The headers of a received request, as `fetch`, Node's http, Express and the others give them. */
export type ReceivedHeaders = Headers | Record<string, string | string[] | undefined>;

const PREFIX = "whsec_";
const VERSION_PREFIX = "v1,";
// We send one signature for each live secret: two while a secret is rotated.
const MOST_SIGNATURES = 20;

/**
 * Checks that a webhook was signed with one of the secrets at most `tolerance` seconds ago, and returns its event.
 * `body` is the request's raw body, not parsed JSON: other bytes have another signature.
 *
 * @throws WebhookVerificationError. Answer 400 then.
 */
export async function verify(
  body: string | Uint8Array | ArrayBuffer,
  headers: ReceivedHeaders,
  secrets: string | readonly string[],
  tolerance = 300,
): Promise<Event> {
  const id = headerOf(headers, "webhook-id");
  const timestamp = headerOf(headers, "webhook-timestamp");
  const signatures = signaturesIn(headerOf(headers, "webhook-signature"));
  checkAge(timestamp, tolerance);
  const bytes = typeof body === "string" ? new TextEncoder().encode(body) : new Uint8Array(body);
  const signed = joined(new TextEncoder().encode(`${id}.${timestamp}.`), bytes);
  const keys = await Promise.all((typeof secrets === "string" ? [secrets] : secrets).map(keyOf));
  if (keys.length === 0) throw new TypeError("verify needs at least one secret");
  for (const key of keys) {
    for (const signature of signatures) {
      // Compares in constant time.
      if (await crypto.subtle.verify("HMAC", key, signature, signed)) return eventIn(bytes);
    }
  }
  throw new WebhookVerificationError("No signature matches one of the secrets.");
}

function headerOf(headers: ReceivedHeaders, name: string): string {
  let value: string | string[] | null | undefined;
  if (areHeaders(headers)) value = headers.get(name);
  else value = headers[name] ?? Object.entries(headers).find(([given]) => given.toLowerCase() === name)?.[1];
  if (Array.isArray(value)) value = value.join(" ");
  if (typeof value === "string" && value !== "") return value;
  throw new WebhookVerificationError(`The header ${name} is missing.`);
}

/** Of any realm and library: not every `Headers` is the global one. */
function areHeaders(headers: ReceivedHeaders): headers is Headers {
  return typeof headers.get === "function";
}

function checkAge(timestamp: string, tolerance: number): void {
  if (!/^[0-9]{1,15}$/.test(timestamp)) throw new WebhookVerificationError("webhook-timestamp is not a number.");
  const age = Math.floor(Date.now() / 1_000) - Number(timestamp);
  if (!(age <= tolerance)) throw new WebhookVerificationError("webhook-timestamp is too old.");
  if (!(-age <= tolerance)) throw new WebhookVerificationError("webhook-timestamp is in the future.");
}

function signaturesIn(header: string): Uint8Array<ArrayBuffer>[] {
  const ours = header.split(" ").filter((one) => one.startsWith(VERSION_PREFIX));
  return ours.slice(0, MOST_SIGNATURES).flatMap((one) => {
    try {
      return [bytesOf(one.slice(VERSION_PREFIX.length))];
    } catch {
      return [];
    }
  });
}

async function keyOf(secret: string): Promise<CryptoKey> {
  let raw;
  try {
    raw = bytesOf(secret.startsWith(PREFIX) ? secret.slice(PREFIX.length) : secret);
  } catch {
    raw = new Uint8Array();
  }
  if (raw.length === 0) throw new TypeError(`A secret is ${PREFIX} and base64, as it was shown once`);
  return crypto.subtle.importKey("raw", raw, { name: "HMAC", hash: "SHA-256" }, false, ["verify"]);
}

function bytesOf(base64: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(atob(base64), (one) => one.charCodeAt(0));
}

function joined(first: Uint8Array, second: Uint8Array): Uint8Array<ArrayBuffer> {
  const both = new Uint8Array(first.length + second.length);
  both.set(first);
  both.set(second, first.length);
  return both;
}

function eventIn(bytes: Uint8Array): Event {
  let event: unknown;
  try {
    event = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
  } catch (cause) {
    throw new WebhookVerificationError("The body is not JSON.", { cause });
  }
  if (typeof event !== "object" || event === null || !("type" in event)) {
    throw new WebhookVerificationError("The body is not an event.");
  }
  return typedEvent(event as Record<string, unknown>);
}
