// Compiled strictly, never run: what an editor knows about the client, and what it refuses.
import { ApiError, ClassFullError, Client, webhooks } from "studio-partner";
import type { Booking, BookingStatus, Class, Event, Member, UnknownEvent } from "studio-partner";

type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
const holds = <T extends true>(): T | undefined => undefined;

const client = new Client({ key: "spk_test_a_b", baseUrl: "https://studio.example/partner/v1", timeout: 5_000, retries: 2, cache: true });

export async function calls(signal: AbortSignal): Promise<void> {
  const booking = await client.createBooking({ class_id: "c", member_id: "m", join_waitlist: true, idempotencyKey: "order-0001", signal });
  holds<Same<typeof booking, Booking>>();
  await client.cancelBooking(booking.id, { reason: "ill" });
  await client.cancelBooking(booking.id);
  await client.deleteWebhookEndpoint("e", { timeout: 1_000 });
  const secret: string = (await client.rotateWebhookSecret("e")).secret;
  await client.listBookings({ status: "waitlisted", starts_after: new Date() });
  for await (const one of client.iterClasses({ on: "2026-11-01" })) holds<Same<typeof one, Class>>();
  // What a newer API may send compiles, what this one would refuse does not.
  const status: string = booking.status;
  if (booking.status === "confirmed" || status === "held") booking.waitlist_position?.toFixed();
  // @ts-expect-error: a field is missing
  await client.createBooking({ class_id: "c" });
  // @ts-expect-error: no such field
  await client.createBooking({ class_id: "c", member_id: "m", seat: 1 });
  // @ts-expect-error: no such status
  await client.listBookings({ status: "cancled" });
  // @ts-expect-error: a read takes no key
  await client.getBooking("b", { idempotencyKey: "order-0001" });
  // @ts-expect-error: no id
  await client.getBooking();
  const known: BookingStatus = "confirmed";
  // @ts-expect-error: misspelled
  const unknown: BookingStatus = "comfirmed";
  void [known, unknown, secret];
}

export function told(event: Event): string {
  switch (event.type) {
    case "booking.created":
      holds<Same<typeof event.data.object, Booking>>();
      return event.data.object.member_id;
    case "class.updated":
      return "title" in event.data.object ? `${event.data.previous?.title} ${event.data.object.title}` : event.data.object.id;
    case "member.erased":
      // @ts-expect-error: only the id is left
      holds<Same<typeof event.data.object, Member>>();
      return event.data.object.id;
    case "unknown":
      holds<Same<typeof event, UnknownEvent>>();
      return String(event.raw["type"]);
    default:
      return `${event.sequence} ${event.data.object.id}`;
  }
}

export async function received(request: Request): Promise<Event> {
  for await (const event of client.events.follow(4711, { type: "class.full" })) told(event);
  return webhooks.verify(await request.text(), request.headers, ["whsec_a", "whsec_b"], 60);
}

export function refused(problem: unknown): string | null {
  if (problem instanceof ClassFullError) return String(problem.details["waitlist_count"]);
  return problem instanceof ApiError ? problem.requestId : null;
}
