// Answers what the bench asks for, in a process of its own. Prints its port.
import { createServer } from "node:http";

const booking = {
  id: "0d9fba4e-5a5e-4c1f-9d6e-5f1f1b2f0a11",
  object: "booking",
  class_id: "5eedca5e-0000-4000-8000-000000000006",
  member_id: "5eedca5e-0000-4000-8000-000000000009",
  status: "confirmed",
  booking_source: "partner_api",
  class_spot_id: null,
  waitlist_position: null,
  created_at: "2026-11-01T08:00:00Z",
  updated_at: "2026-11-01T08:00:00Z",
};
const one = JSON.stringify(booking);
const page = JSON.stringify({ object: "list", data: Array(50).fill(booking), has_more: false, next_cursor: null });

const server = createServer((request, response) => {
  request.resume();
  const isPage = request.method === "GET" && !request.url.includes("/bookings/");
  const headers = { "Content-Type": "application/json", "X-Request-Id": "r", "X-API-Version": "2026-08-02", ETag: '"e60b8de5"' };
  response.writeHead(request.method === "POST" ? 201 : 200, headers).end(isPage ? page : one);
});
server.listen(0, "127.0.0.1", () => console.log(server.address().port));
