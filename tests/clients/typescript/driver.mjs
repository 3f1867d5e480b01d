// The client behind the protocol of lines that tests/clients/drivers.py describes.
import { createInterface } from "node:readline";
import { Client } from "studio-partner";

const { STUDIO_URL, STUDIO_KEY, STUDIO_TIMEOUT, STUDIO_RETRIES } = process.env;
const client = new Client({
  baseUrl: STUDIO_URL,
  key: STUDIO_KEY,
  ...(STUDIO_TIMEOUT && { timeout: Number(STUDIO_TIMEOUT) * 1_000 }),
  ...(STUDIO_RETRIES && { retries: Number(STUDIO_RETRIES) }),
});
const camel = (name) => name.replace(/_([a-z0-9])/g, (_, letter) => letter.toUpperCase());
const snake = (name) => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

async function called({ call, path, fields: { idempotency_key, ...fields } }) {
  if (call === "follow") return take(client.events.follow(fields.after_sequence), fields.count);
  if (idempotency_key !== undefined) fields.idempotencyKey = idempotency_key;
  const result = client[camel(call)](...path, fields);
  return call.startsWith("iter_") ? take(result, Infinity) : await result;
}

async function take(rows, count) {
  const taken = [];
  for await (const row of rows) {
    taken.push(row);
    if (taken.length >= count) break;
  }
  return taken;
}

function told(problem) {
  const shown = Object.entries(problem).filter(([, value]) => value !== null && !Array.isArray(value));
  return { class: problem.name, message: problem.message, ...Object.fromEntries(shown.map(([name, value]) => [snake(name), value])) };
}

const plain = (_, value) => (value?.type === "unknown" && value.raw ? { ...value.raw, unknown: true } : value);

for await (const line of createInterface({ input: process.stdin })) {
  const asked = JSON.parse(line);
  called(asked).then(
    (result) => console.log(JSON.stringify({ id: asked.id, result: result ?? null }, plain)),
    (problem) => console.log(JSON.stringify({ id: asked.id, error: told(problem) })),
  );
}
