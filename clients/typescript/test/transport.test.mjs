import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { setTimeout } from "node:timers/promises";
import { inspect } from "node:util";
import * as library from "studio-partner";
import { ResponseCache } from "../dist/cache.js";
import { CUT, CUT_IN_BODY, SILENCE, refusal, scripted } from "./scripted_server.mjs";

const { API_VERSION, ApiError, Client, ClassFullError, ConnectionFailed, RateLimitedError, SecretLost, VERSION } = library;
const BOOKED = [201, { id: "b", object: "booking", status: "confirmed" }];
const FIELDS = { class_id: "c", member_id: "m" };
const keysOf = (requests) => requests.map((one) => one.headers["idempotency-key"]);

describe("a call", { concurrency: true }, () => {
  test("names its version, its user agent and its key", async (t) => {
    const { client, requests } = await scripted(t, [[200, { name: "Flow" }]]);
    assert.equal((await client.getStudio()).name, "Flow");
    const { headers, url, method } = requests[0];
    assert.deepEqual([method, url], ["GET", "/partner/v1/studio"]);
    assert.equal(headers["user-agent"], `studio-partner-typescript/${VERSION}`);
    assert.equal(headers["x-api-version"], API_VERSION);
    assert.equal(headers["x-service-key"], "spk_test_a_b");
    assert.equal(headers["idempotency-key"], undefined);
  });

  test("sends fields to the place they belong to, and no option among them", async (t) => {
    const { client, requests } = await scripted(t, [BOOKED]);
    await client.createBooking({ ...FIELDS, class_spot_id: null, timeout: 9_000, idempotencyKey: "order-0001" });
    assert.deepEqual(requests[0].body, { ...FIELDS, class_spot_id: null });
    await client.cancelBooking("a/b c", { reason: "ill & tired", allow_credit_forfeit: false });
    assert.equal(requests[1].url, "/partner/v1/bookings/a%2Fb%20c?reason=ill+%26+tired&allow_credit_forfeit=false");
    assert.equal(requests[1].body, "");
    await client.listClasses({ starts_after: new Date(0), limit: undefined, location_id: null, ids: ["a", "b"] });
    assert.equal(requests[2].url, "/partner/v1/classes?ids=a%2Cb&starts_after=1970-01-01T00%3A00%3A00.000Z");
  });

  test("refuses what is not an id, instead of calling another route", async (t) => {
    const { client, requests } = await scripted(t, [[200, {}]]);
    for (const id of ["", ".", "..", undefined]) await assert.rejects(client.getBooking(id), TypeError);
    assert.equal(requests.length, 0);
  });

  test("does not carry the key to where a redirect points", async (t) => {
    const { client, requests } = await scripted(t, [[302, "", { Location: "/elsewhere" }]]);
    await assert.rejects(client.getStudio(), { status: 302, code: "http_302" });
    assert.equal(requests.length, 1);
  });

  test("may have no timeout", async (t) => {
    const { client, requests } = await scripted(t, [[200, { name: "Flow" }]], { timeout: Infinity, retries: 0 });
    assert.equal((await client.getStudio()).name, "Flow");
    assert.equal(requests.length, 1);
  });

  test("returns nothing for an empty response", async (t) => {
    const { client } = await scripted(t, [[204]]);
    assert.equal(await client.deleteWebhookEndpoint("e"), undefined);
  });

  for (const [when, step] of Object.entries({
    "it waits for a response": SILENCE,
    "it waits for the next attempt": refusal(503, "service_unavailable", { "Retry-After": "30" }),
  })) {
    test(`ends when its signal says so, while ${when}`, async (t) => {
      const { client, requests, answered } = await scripted(t, [step]);
      const stopping = new AbortController();
      const call = assert.rejects(client.getStudio({ signal: stopping.signal }), { message: "enough" });
      while (requests.length === 0 || (step !== SILENCE && answered() === 0)) await setTimeout(10);
      await setTimeout(100);
      const stopped = Date.now();
      stopping.abort(new Error("enough"));
      await call;
      assert.ok(Date.now() - stopped < 10_000);
      await assert.rejects(client.getStudio({ signal: stopping.signal }), { message: "enough" });
      assert.equal(requests.length, 1);
    });
  }
});

describe("a retry", { concurrency: true }, () => {
  const faults = {
    "a 429": refusal(429, "rate_limited", { "Retry-After": "0" }),
    "a 503": refusal(503, "service_unavailable"),
    "a 504": refusal(504, "upstream_timeout"),
    "a write that is still running": refusal(409, "idempotency_in_progress", { "Retry-After": "0" }),
    "a cut connection": CUT,
    "a cut response": CUT_IN_BODY,
    silence: SILENCE,
  };
  for (const [name, fault] of Object.entries(faults)) {
    test(`comes after ${name}, under the same key`, async (t) => {
      const { client, requests } = await scripted(t, [fault, BOOKED], fault === SILENCE ? { timeout: 1_000 } : {});
      assert.equal((await client.createBooking(FIELDS)).id, "b");
      const [first, second, ...more] = keysOf(requests);
      assert.equal(first, second);
      assert.match(first, /^[0-9a-f-]{36}$/);
      assert.deepEqual(more, []);
      assert.deepEqual(requests[1].body, FIELDS);
      await client.createBooking(FIELDS);
      assert.notEqual(keysOf(requests)[2], first, "another call is another operation");
    });
  }

  test("comes for reads, too", async (t) => {
    const { client, requests } = await scripted(t, [CUT, [200, { name: "Flow" }]]);
    assert.equal((await client.getStudio()).name, "Flow");
    assert.equal(requests.length, 2);
  });

  test("uses the key that was given", async (t) => {
    const { client, requests } = await scripted(t, [CUT, BOOKED]);
    await client.createBooking({ ...FIELDS, idempotencyKey: "order-20260803-0001" });
    assert.deepEqual(keysOf(requests), ["order-20260803-0001", "order-20260803-0001"]);
  });

  test("waits for as long as Retry-After says, and more than a minute is left to the caller", async (t) => {
    const { client, requests } = await scripted(t, [refusal(429, "rate_limited", { "Retry-After": "1" }), [200, {}]]);
    await client.getStudio();
    assert.ok(requests[1].at - requests[0].at >= 990);
    const patient = await scripted(t, [refusal(429, "rate_limited", { "Retry-After": "61" })]);
    await assert.rejects(patient.client.getStudio(), (problem) => problem instanceof RateLimitedError && problem.retryAfter === 61);
    const date = new Date(Date.now() + 3_600_000).toUTCString();
    const dated = await scripted(t, [refusal(503, "service_unavailable", { "Retry-After": date })]);
    await assert.rejects(dated.client.getStudio(), ({ retryAfter }) => retryAfter > 3_500);
    assert.equal(patient.requests.length + dated.requests.length, 2);
  });

  test("ends with the last problem, which names the key to go on with", async (t) => {
    const cut = await scripted(t, [CUT], { retries: 1 });
    const isCut = (problem) => problem instanceof ConnectionFailed && problem.idempotencyKey === keysOf(cut.requests)[0];
    await assert.rejects(cut.client.createBooking(FIELDS), isCut);
    assert.equal(cut.requests.length, 2);
    const none = await scripted(t, [refusal(503, "service_unavailable")], { retries: 0 });
    await assert.rejects(none.client.createBooking(FIELDS), ({ idempotencyKey }) => idempotencyKey === keysOf(none.requests)[0]);
    assert.equal(none.requests.length, 1);
  });

  test("does not tell the query in its error, which may be logged", async (t) => {
    const { client } = await scripted(t, [CUT], { retries: 0 });
    const problem = await client.listMembers({ email: "ada@example.com" }).catch((caught) => caught);
    assert.match(problem.message, /^GET .*\/members: /);
    assert.doesNotMatch(problem.message, /ada/);
  });

  test("of a call without end waits for as long as it is told to", async (t) => {
    const { client, requests } = await scripted(t, [refusal(503, "service_unavailable", { "Retry-After": "90" })]);
    const signal = AbortSignal.timeout(500);
    await assert.rejects(client.getStudio({ retries: Infinity, signal }), { name: "TimeoutError" });
    assert.equal(requests.length, 1);
  });

  test("that would come in months does not come at once", async (t) => {
    const { client, requests } = await scripted(t, [refusal(503, "service_unavailable", { "Retry-After": "9999999" })]);
    const signal = AbortSignal.timeout(500);
    await assert.rejects(client.getStudio({ retries: Infinity, signal }), { name: "TimeoutError" });
    assert.equal(requests.length, 1);
  });

  test("never follows a refusal", async (t) => {
    for (const step of [refusal(409, "class_full"), refusal(500, "internal_error"), refusal(404, "not_found"), refusal(422, "validation_failed")]) {
      const { client, requests } = await scripted(t, [step]);
      await assert.rejects(client.createBooking(FIELDS), ApiError);
      assert.equal(requests.length, 1);
    }
  });
});

describe("an error", { concurrency: true }, () => {
  test("is of its code's class and tells everything", async (t) => {
    const { client } = await scripted(t, [refusal(409, "class_full")]);
    const problem = await client.createBooking(FIELDS).catch((caught) => caught);
    assert.ok(problem instanceof ClassFullError && problem instanceof ApiError && problem instanceof Error);
    const { status, code, type, message, param, details, requestId, name } = problem;
    assert.deepEqual([status, code, type, message, param, details, requestId, name], [409, "class_full", "conflict", "No.", "class_id", { capacity: 12 }, "r-2", "ClassFullError"]);
  });

  test("lists the problems of a request that is not valid", async (t) => {
    const detail = [{ loc: ["body", "email"], msg: "Is missing.", type: "missing" }];
    const { client } = await scripted(t, [refusal(422, "validation_failed", {}, { detail })]);
    await assert.rejects(client.createLead({}), (problem) => problem.problems[0].loc[1] === "email");
  });

  test("of a code that is not known, or without one, is an ApiError", async (t) => {
    for (const [step, code] of [
      [refusal(409, "class_on_the_moon"), "class_on_the_moon"],
      [refusal(409, "constructor"), "constructor"],
      [[500, "<html>oops</html>"], "http_500"],
      [[400, "null"], "http_400"],
    ]) {
      const { client } = await scripted(t, [step]);
      await assert.rejects(client.getStudio(), (problem) => problem.constructor === ApiError && problem.code === code);
    }
  });

  test("is raised when a replay cannot show the secret", async (t) => {
    const endpoint = { id: "e", object: "webhook_endpoint", secret: null };
    const { client } = await scripted(t, [CUT, [201, endpoint]]);
    const lost = await client.createWebhookEndpoint({ url: "https://example.com" }).catch((caught) => caught);
    assert.ok(lost instanceof SecretLost);
    assert.equal(lost.resource.id, "e");
    const shown = await scripted(t, [[201, { ...endpoint, secret: "whsec_a" }]]);
    assert.equal((await shown.client.createWebhookEndpoint({ url: "https://example.com" })).secret, "whsec_a");
    const link = await scripted(t, [[201, { object: "console_session", url: null }]]);
    await assert.rejects(link.client.createConsoleSession(), SecretLost);
  });

  test("is raised when a good response is not JSON", async (t) => {
    const { client } = await scripted(t, [[200, "<html>"]]);
    await assert.rejects(client.getStudio(), ConnectionFailed);
  });
});

describe("the cache", { concurrency: true }, () => {
  const answer = (request) => (request.headers["if-none-match"] === '"1"' ? [304, undefined, { ETag: '"1"' }] : [200, { name: "Flow" }, { ETag: '"1"' }]);

  test("asks whether a response has changed, and hands out copies", async (t) => {
    const { client, requests } = await scripted(t, [answer], { cache: true });
    const first = await client.getStudio();
    first.name = "changed by its owner";
    assert.deepEqual(await client.getStudio(), { name: "Flow" });
    assert.deepEqual(requests.map((one) => one.headers["if-none-match"]), [undefined, '"1"']);
    await client.getBooking("b");
    assert.equal(requests[2].headers["if-none-match"], undefined, "another URL has another tag");
  });

  test("is not asked by a call that waits, which has more time", async (t) => {
    const empty = [200, { object: "list", data: [] }, { ETag: '"1"' }];
    const { client, requests } = await scripted(t, [empty, SILENCE, empty], { cache: true, timeout: 1_000 });
    const waiting = { after_sequence: 4, wait: 1 };
    await client.listEvents(waiting);
    await client.listEvents(waiting);
    assert.equal(requests[1].headers["if-none-match"], undefined);
    assert.ok(requests[2].at - requests[1].at > 1_900);
  });

  test("takes what has changed", async (t) => {
    const { client } = await scripted(t, [[200, { n: 1 }, { ETag: '"1"' }], [200, { n: 2 }, { ETag: '"2"' }], [304, undefined, { ETag: '"2"' }]], { cache: true });
    const seen = [];
    for (let call = 0; call < 3; call++) seen.push((await client.getStudio()).n);
    assert.deepEqual(seen, [1, 2, 2]);
  });

  test("drops what was not used for longest when it is full", () => {
    const cache = new ResponseCache(20);
    cache.set("a", "1", "12345678");
    cache.set("b", "2", "12345678");
    assert.equal(cache.get("a").etag, "1");
    cache.set("c", "3", "12345678");
    assert.deepEqual(["a", "b", "c"].map((url) => cache.get(url)?.etag), ["1", undefined, "3"]);
    cache.set("c", "4", "1234567890123456789012");
    assert.equal(cache.get("c"), undefined, "larger than the whole cache");
  });

  test("is off unless it is asked for", async (t) => {
    const { client, requests } = await scripted(t, [answer]);
    await client.getStudio();
    await client.getStudio();
    assert.equal(requests[1].headers["if-none-match"], undefined);
  });
});

describe("a client", () => {
  const baseUrl = "https://studio.example/partner/v1";

  test("refuses a live key in a browser's page, and takes it elsewhere", () => {
    const live = { key: "spk_live_a_b", baseUrl };
    new Client(live);
    globalThis.document = {};
    try {
      assert.throws(() => new Client(live), /live key/);
      new Client({ key: "spk_test_a_b", baseUrl });
    } finally {
      delete globalThis.document;
    }
    const own = Object.getOwnPropertyDescriptor(globalThis, "navigator");
    Object.defineProperty(globalThis, "navigator", { value: { userAgent: "Mozilla/5.0" }, configurable: true });
    try {
      assert.throws(() => new Client(live), /live key/);
    } finally {
      Object.defineProperty(globalThis, "navigator", own);
    }
  });

  test("needs a key and a base URL", () => {
    assert.throws(() => new Client({ key: "", baseUrl }), TypeError);
    assert.throws(() => new Client({ key: "spk_test_a_b" }), TypeError);
    assert.throws(() => new Client({ baseUrl }), TypeError);
  });

  test("refuses a key that no header can hold, and does not show it", () => {
    for (const key of ["spk_live_a\nsecret", "spk_live_a_secr\u20act", "spk_live_ secret"]) {
      assert.throws(() => new Client({ key, baseUrl }), (problem) => problem instanceof TypeError && !/secr/.test(problem.message));
    }
  });

  test("does not show its key", () => {
    const client = new Client({ key: "spk_test_secret", baseUrl });
    assert.doesNotMatch(inspect(client, { depth: 9, showHidden: true }) + JSON.stringify(client), /secret/);
  });
});
