// A server that answers each request with the next step of a script, and remembers what it was sent.
import { createServer } from "node:http";
import { once } from "node:events";
import { Client } from "studio-partner";

/** A step is [status, body, headers], or one of the faults below. The last step is repeated. */
export const CUT = "cut";
export const CUT_IN_BODY = "cut in body";
export const SILENCE = "silence";

export async function scripted(t, steps, options = {}) {
  const requests = [];
  const server = createServer(async (request, response) => {
    const step = steps[Math.min(requests.length, steps.length - 1)];
    const chunks = [];
    requests.push({ method: request.method, url: request.url, headers: request.headers, at: Date.now() });
    for await (const chunk of request) chunks.push(chunk);
    const text = Buffer.concat(chunks).toString();
    Object.assign(requests.at(-1), { body: text && JSON.parse(text) });
    if (step === SILENCE) return;
    if (step === CUT) return request.socket.destroy();
    if (step === CUT_IN_BODY) {
      response.writeHead(200, { "Content-Length": "1000" }).write("{");
      return setTimeout(() => request.socket.destroy(), 20);
    }
    const [status, body, headers] = typeof step === "function" ? step(requests.at(-1)) : step;
    response.writeHead(status, { "X-Request-Id": "r-1", ...headers });
    response.end(body === undefined ? "" : typeof body === "string" ? body : JSON.stringify(body));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  t.after(() => {
    server.close();
    server.closeAllConnections();
  });
  const baseUrl = `http://127.0.0.1:${server.address().port}/partner/v1`;
  let answers = 0;
  const counting = async (...request) => {
    const response = await fetch(...request);
    answers += 1;
    return response;
  };
  const client = new Client({ key: "spk_test_a_b", baseUrl, fetch: counting, ...options });
  return { client, requests, answered: () => answers };
}

export function refusal(status, code, headers = {}, more = {}) {
  const error = { type: "conflict", code, message: "No.", param: "class_id", details: { capacity: 12 }, request_id: "r-2" };
  return [status, { error, ...more }, headers];
}

export function event(sequence, type = "booking.created", more = {}) {
  return { id: `e-${sequence}`, object: "event", type, sequence, data: { object: { id: "b", object: "booking" } }, ...more };
}

export function page(data, more = {}) {
  return [200, { object: "list", data, has_more: false, next_cursor: null, ...more }];
}
