// CPU of a call through the client beside the same call by fetch alone, taking turns in one run: `npm run bench [TURNS [CALLS]]`.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { Client, VERSION } from "studio-partner";

const [ROUNDS = 15, CALLS = 500] = process.argv.slice(2).map(Number);
const server = spawn(process.execPath, [fileURLToPath(new URL("server.mjs", import.meta.url))], { stdio: ["ignore", "pipe", "inherit"] });
const [port] = await once(server.stdout, "data");
const baseUrl = `http://127.0.0.1:${String(port).trim()}/partner/v1`;
const key = "spk_test_bench_key";
const client = new Client({ key, baseUrl });

const headers = { Accept: "application/json", "User-Agent": `bench/${VERSION}`, "X-Service-Key": key };
const fields = { class_id: "5eedca5e-0000-4000-8000-000000000006", member_id: "5eedca5e-0000-4000-8000-000000000009" };
const writing = { "Content-Type": "application/json" };
const json = async (url, request) => {
  const response = await fetch(baseUrl + url, request);
  if (!response.ok) throw new Error(`${response.status}`);
  return response.json();
};

const calls = {
  "GET one booking": [() => json("/bookings/b", { headers }), () => client.getBooking("b")],
  "GET a page of 50": [() => json("/bookings?limit=50", { headers }), () => client.listBookings({ limit: 50 })],
  "POST a booking": [
    () => json("/bookings", { method: "POST", headers: { ...headers, ...writing, "Idempotency-Key": crypto.randomUUID() }, body: JSON.stringify(fields) }),
    () => client.createBooking(fields),
  ],
};

async function microseconds(call) {
  const before = process.cpuUsage();
  for (let count = 0; count < CALLS; count++) await call();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / CALLS;
}

const median = (numbers) => numbers.sort((a, b) => a - b)[Math.floor(numbers.length / 2)];
const found = {};
for (const [name, [raw, ours]] of Object.entries(calls)) {
  // Until the compiler has seen both; a busy machine takes longer.
  for (let count = 0; count < 3; count++) for (const one of [raw, ours]) await microseconds(one);
  const rounds = [];
  for (let round = 0; round < ROUNDS; round++) {
    // Each is first in every other turn: what one leaves to be cleared away is counted for the next.
    const late = round % 2 ? await microseconds(ours) : undefined;
    const fetched = await microseconds(raw);
    rounds.push([fetched, late ?? (await microseconds(ours))]);
  }
  const [fetched, called] = [median(rounds.map((one) => one[0])), median(rounds.map((one) => one[1]))];
  found[name] = { fetch: Math.round(fetched), client: Math.round(called), ratio: Number(median(rounds.map(([a, b]) => b / a)).toFixed(2)) };
}
server.kill();
console.table(found);
console.log(JSON.stringify(found));
