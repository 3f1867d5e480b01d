// A booking with a client that openapi-typescript made: only the required fields, as a partner would begin.
import createClient from "openapi-fetch";
import type { paths } from "./partner_api.js";

declare const process: { argv: string[] };
const [baseUrl = "", key = "", class_id = "", member_id = ""] = process.argv.slice(2);
const client = createClient<paths>({ baseUrl, headers: { "X-Service-Key": key } });
const { data, error } = await client.POST("/bookings", {
  params: { header: { "Idempotency-Key": `typescript-${class_id}` } },
  body: { class_id, member_id },
});
if (error) throw new Error(JSON.stringify(error));
const listed = await client.GET("/bookings", { params: { query: { member_id } } });
const ids: string[] = (listed.data?.data ?? []).map((booking) => booking.id);
console.log(JSON.stringify({ id: data.id, status: data.status, listed: ids }));
