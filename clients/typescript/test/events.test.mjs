import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { ConnectionFailed, ResyncNeeded } from "studio-partner";
import { CUT, event, page, refusal, scripted } from "./scripted_server.mjs";

const sequences = (oldest, latest) => ({ oldest_sequence: oldest, latest_sequence: latest });

async function take(follower, count) {
  const seen = [];
  if (count === 0) return seen;
  for await (const one of follower) {
    seen.push(one.sequence);
    if (seen.length === count) break;
  }
  return seen;
}

describe("all rows", { concurrency: true }, () => {
  test("come page by page, as the loop gets there", async (t) => {
    const rows = [{ id: "1" }, { id: "2" }, { id: "3" }];
    const more = { has_more: true, next_cursor: "2" };
    const { client, requests } = await scripted(t, [page(rows.slice(0, 2), more), page(rows.slice(2))]);
    const seen = [];
    for await (const row of client.iterClasses({ on: "2026-11-01" })) {
      seen.push(row.id);
      if (seen.length === 2) assert.equal(requests.length, 1);
    }
    assert.deepEqual(seen, ["1", "2", "3"]);
    assert.deepEqual(requests.map((one) => one.url), ["/partner/v1/classes?limit=200&on=2026-11-01", "/partner/v1/classes?cursor=2&limit=200&on=2026-11-01"]);
  });

  test("can be left, and begun later on or with smaller pages", async (t) => {
    const { client, requests } = await scripted(t, [page([{ id: "1" }], { has_more: true, next_cursor: "1" })]);
    for await (const row of client.iterSubmissions("f", { cursor: "0", limit: 1 })) {
      assert.equal(row.id, "1");
      break;
    }
    assert.deepEqual(requests.map((one) => one.url), ["/partner/v1/forms/f/submissions?cursor=0&limit=1"]);
  });
});

describe("following", { concurrency: true }, () => {
  test("gives every event once, goes on from the last one, and waits", async (t) => {
    const first = page([event(4), event(6)], { has_more: true, next_cursor: "x", ...sequences(1, 9) });
    const { client, requests } = await scripted(t, [first, page([], sequences(1, 12)), page([event(13)], sequences(1, 13))]);
    const follower = client.events.follow(3);
    assert.deepEqual(await take(follower, 3), [4, 6, 13]);
    assert.equal(follower.position, 13);
    const asked = requests.map((one) => new URLSearchParams(one.url.split("?")[1]));
    assert.deepEqual(asked.map((one) => one.get("after_sequence")), ["3", "6", "12"]);
    assert.ok(asked.every((one) => one.get("wait") === "20" && one.get("cursor") === null));
  });

  test("tells where it is while an event is handled, and goes on there", async (t) => {
    const { client, requests } = await scripted(t, [page([event(1), event(2)], sequences(1, 2)), page([event(2)], sequences(1, 2))]);
    const killed = client.events.follow(0);
    assert.deepEqual(await take(killed, 1), [1]);
    assert.deepEqual(await take(client.events.follow(killed.position, { type: "booking.created", wait: 5 }), 1), [2]);
    await take(client.events.follow(1, { wait: undefined }), 1);
    assert.match(requests[2].url, /wait=20/, "what is undefined is as if it was not given");
    assert.equal(requests[1].url, "/partner/v1/events?limit=200&type=booking.created&after_sequence=1&wait=5");
  });

  test("stops where events are no longer kept", async (t) => {
    const gone = refusal(410, "events_expired");
    gone[1].error.details = { oldest_sequence: 71 };
    const { client } = await scripted(t, [gone]);
    await assert.rejects(take(client.events.follow(3), 1), (problem) => problem instanceof ResyncNeeded && problem.reason === "expired" && problem.oldestSequence === 71);
  });

  const jumped = (problem) => problem instanceof ResyncNeeded && problem.reason === "jump" && problem.oldestSequence === 1;
  test("stops at a jump of a million, after all that came before it", async (t) => {
    const { client } = await scripted(t, [page([event(5), event(1_000_005)], sequences(1, 1_000_005))]);
    const follower = client.events.follow(4);
    await assert.rejects(take(follower, 2), jumped);
    assert.equal(follower.position, 5);
    const quiet = await scripted(t, [page([], sequences(1, 1_000_004))]);
    await assert.rejects(take(quiet.client.events.follow(4), 1), jumped);
    const near = await scripted(t, [page([event(1_000_003)], sequences(1, 1_000_003))]);
    assert.deepEqual(await take(near.client.events.follow(4), 1), [1_000_003]);
  });

  test("stops when the log is behind what was seen of it", async (t) => {
    const { client } = await scripted(t, [page([], sequences(1, 3))]);
    await assert.rejects(take(client.events.follow(4), 1), jumped);
  });

  test("outlasts an outage once it has worked, and says that it cannot begin", async (t) => {
    const cut = Array(3).fill(CUT);
    const { client } = await scripted(t, [page([event(1)], sequences(1, 1)), ...cut, page([event(2)], sequences(1, 2))], { retries: 1 });
    assert.deepEqual(await take(client.events.follow(0), 2), [1, 2]);
    const never = await scripted(t, [CUT], { retries: 1 });
    await assert.rejects(take(never.client.events.follow(0), 1), ConnectionFailed);
    assert.equal(never.requests.length, 2);
  });

  test("ends with its signal", async (t) => {
    const { client } = await scripted(t, [page([], sequences(1, 4))]);
    await assert.rejects(take(client.events.follow(4, { signal: AbortSignal.timeout(100) }), 1), { name: "TimeoutError" });
  });
});

describe("an event of a kind that is not known", { concurrency: true }, () => {
  const later = event(1, "yoga.mat_unrolled", { api_version: "2031-01-01", mood: "calm" });
  for (const [name, read] of Object.entries({
    "a page": async (client) => (await client.listEvents()).data[0],
    "all rows": async (client) => (await client.iterEvents().next()).value,
    following: async (client) => (await client.events.follow(0)[Symbol.asyncIterator]().next()).value,
  })) {
    test(`is an UnknownEvent with all of it, in ${name}`, async (t) => {
      const { client } = await scripted(t, [page([later, event(2)], sequences(1, 2))]);
      const got = await read(client);
      assert.equal(got.type, "unknown");
      assert.equal(got.sequence, 1);
      assert.deepEqual(got.raw, later);
    });
  }

  test("is an UnknownEvent when it is fetched by its id", async (t) => {
    const { client } = await scripted(t, [[200, later], [200, event(2)]]);
    assert.equal((await client.getEvent("e-1")).raw.mood, "calm");
    assert.equal((await client.getEvent("e-2")).type, "booking.created");
  });
});
