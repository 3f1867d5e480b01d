// The back end of a booking page: `node booking_page.mjs`, with STUDIO_URL, STUDIO_KEY, PORT and PUBLIC_URL set.
//
// GET /classes            what can be booked, from a copy in memory that follows the studio
// POST /bookings          {class_id, email, first_name, last_name}, with an Idempotency-Key of the page: holds a seat while
//                         the visitor pays; with join_waitlist it is a booking, or a place on the waitlist
// PUT /bookings/{id}      paid: the hold becomes a booking
// DELETE /bookings/{id}   gives the seat back
// POST /hooks             webhooks of the studio, at PUBLIC_URL/hooks
import { createServer } from "node:http";
import { ApiError, Client, NotFoundError, ResyncNeeded, WebhookVerificationError, webhooks } from "studio-partner";

const { STUDIO_URL, STUDIO_KEY, PORT = "3000", PUBLIC_URL = `http://127.0.0.1:${PORT}` } = process.env;
const client = new Client({ key: STUDIO_KEY, baseUrl: STUDIO_URL });
const HOLD_SECONDS = 300;
const classes = new Map();
let ready = false;

/** Lists what is coming, then follows: whatever happens to a class, it is read again. */
async function mirror() {
  for (;;) {
    // First the position, then the list: what changes in between is told by an event after it.
    const { latest_sequence } = await client.listEvents({ limit: 1 });
    classes.clear();
    for await (const one of client.iterClasses({ starts_after: new Date() })) classes.set(one.id, one);
    ready = true;
    try {
      for await (const event of client.events.follow(latest_sequence)) {
        const classId = concerns(event);
        if (classId) await refresh(classId);
      }
    } catch (problem) {
      if (!(problem instanceof ResyncNeeded)) throw problem;
      ready = false;
    }
  }
}

/** The class that an event is about: its own news, or a booking or a place on the waitlist that changes its counts. */
function concerns(event) {
  if (event.type === "unknown") return null;
  const { object } = event.data;
  return object.object === "class" ? object.id : object.class_id;
}

async function refresh(id) {
  try {
    const found = await client.getClass(id);
    if (found.status === "scheduled" && found.visible) classes.set(id, found);
    else classes.delete(id);
  } catch (problem) {
    if (!(problem instanceof NotFoundError)) throw problem;
    classes.delete(id);
  }
}

function listed() {
  const coming = [...classes.values()].filter((one) => new Date(one.start_time) > new Date());
  return coming
    .sort((a, b) => a.start_time.localeCompare(b.start_time))
    .map(({ id, title, start_local, available_count, allow_waitlist }) => ({ id, title, start_local, available_count, allow_waitlist }));
}

async function book({ class_id, email, first_name, last_name, join_waitlist = false }, idempotencyKey) {
  const { data } = await client.listMembers({ email });
  const member = data[0] ?? (await client.createMember({ email, first_name, last_name }));
  const how = join_waitlist ? { join_waitlist } : { hold_seconds: HOLD_SECONDS };
  return client.createBooking({ class_id, member_id: member.id, ...how, ...(idempotencyKey && { idempotencyKey }) });
}

/** Webhooks come at least once: what is done here twice must do no harm. */
function received(event) {
  switch (event.type) {
    case "booking.confirmed":
      return console.log(`tell ${event.data.object.member_id}: a seat has become free, and it is yours`);
    case "booking.expired":
      return console.log(`tell ${event.data.object.member_id}: the seat is not held any more`);
    case "class.cancelled":
      return console.log(`tell everybody: ${event.data.object.title} is cancelled`);
    default:
      return undefined;
  }
}

async function bodyOf(request) {
  const chunks = [];
  for await (const chunk of request) chunks.push(chunk);
  return Buffer.concat(chunks);
}

async function answer(request) {
  const [, place, id] = new URL(request.url, "http://page").pathname.split("/");
  switch (`${request.method} /${place}`) {
    case "GET /classes":
      return ready ? [200, listed()] : [503, { code: "starting" }];
    case "POST /bookings":
      return [201, await book(JSON.parse(await bodyOf(request)), request.headers["idempotency-key"])];
    case "PUT /bookings":
      return [200, await client.confirmBooking(id)];
    case "DELETE /bookings":
      return [200, await client.cancelBooking(id, { reason: "on the page" })];
    case "POST /hooks":
      received(await webhooks.verify(await bodyOf(request), request.headers, endpoint.secret));
      return [204];
    default:
      return [404, { code: "not_found" }];
  }
}

/** A refusal of the studio is the page's answer, too: it says class_full, or that the member has no credits. */
function refused(problem) {
  if (problem instanceof WebhookVerificationError || problem instanceof SyntaxError) return [400, { code: "bad_request" }];
  if (problem instanceof ApiError && problem.status < 500 && ![401, 403].includes(problem.status)) {
    const { status, code, message, details } = problem;
    return [status, { code, message, details }];
  }
  console.error(problem);
  return [502, { code: "studio_unavailable" }];
}

const endpoint = await client.createWebhookEndpoint({
  url: `${PUBLIC_URL}/hooks`,
  description: "Booking page",
  event_types: ["booking.confirmed", "booking.expired", "class.cancelled"],
});
const server = createServer(async (request, response) => {
  const [status, body] = await answer(request).catch(refused);
  response.writeHead(status, { "Content-Type": "application/json" }).end(body && JSON.stringify(body));
});
server.listen(Number(PORT), () => console.log(`listening on ${PORT}`));
await mirror();
