import { EVENT_TYPES } from "./generated/events.js";
import type { Event } from "./generated/events.js";

/** A text that this version of the package does not know: an API that is newer may send other values. */
export type Unknown = string & Record<never, never>;

const KNOWN: ReadonlySet<string> = new Set(EVENT_TYPES);

/** The event as its kind is typed, or as `UnknownEvent` if this version of the package does not know its kind or its shape. */
export function typedEvent(raw: Record<string, unknown>): Event {
  const { type, data } = raw as { type?: unknown; data?: { object?: unknown } | null };
  const isKnown = typeof type === "string" && KNOWN.has(type) && typeof data?.object === "object";
  if (isKnown && data.object !== null) return raw as unknown as Event;
  return { ...raw, type: "unknown", raw } as unknown as Event;
}

/** A response that is an event, or a page of them. */
export function withUnknownKinds(body: unknown): unknown {
  const found = body as { object?: unknown; data?: Record<string, unknown>[] };
  if (found.object !== "list" || !Array.isArray(found.data)) return typedEvent(body as Record<string, unknown>);
  return { ...found, data: found.data.map(typedEvent) };
}
