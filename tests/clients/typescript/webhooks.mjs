// Verifies each webhook of stdin with the client and with the standardwebhooks library, and prints both verdicts.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { webhooks } from "studio-partner";

const { Webhook } = createRequire(`${process.argv[2]}/`)("standardwebhooks");

async function ours({ body, headers, secrets }) {
  try {
    const event = await webhooks.verify(body, headers, secrets);
    return event.type;
  } catch (problem) {
    return problem.name;
  }
}

// The library takes one secret: a receiver with several tries them all.
function theirs({ body, headers, secrets }) {
  for (const secret of secrets) {
    try {
      return new Webhook(secret).verify(body, headers).type;
    } catch (problem) {
      if (problem.name !== "WebhookVerificationError") return problem.name;
    }
  }
  return "WebhookVerificationError";
}

const cases = JSON.parse(readFileSync(0, "utf8"));
const verdicts = {};
for (const [name, one] of Object.entries(cases)) verdicts[name] = { ours: await ours(one), theirs: theirs(one) };
const { body, headers, secrets } = cases.signed;
const forms = {
  text: await ours(cases.signed),
  bytes: await ours({ body: new TextEncoder().encode(body), headers, secrets }),
  buffer: await ours({ body: Buffer.from(body), headers, secrets }),
  "array buffer": await ours({ body: new TextEncoder().encode(body).buffer, headers, secrets }),
  headers: await ours({ body, headers: new Headers(headers), secrets }),
  "headers of another library": await ours({ body, headers: { get: (name) => new Headers(headers).get(name) }, secrets }),
  lists: await ours({ body, headers: Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, [value]])), secrets }),
  capitals: await ours({ body, headers: Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toUpperCase(), value])), secrets }),
  "one secret": await ours({ body, headers, secrets: secrets[0] }),
};
const refused = {
  parsed: await ours({ body: JSON.parse(body), headers, secrets }),
  "no tolerance": await webhooks.verify(body, headers, secrets, NaN).catch((problem) => problem.name),
  "no secret": await ours({ body, headers, secrets: [] }),
  "an empty secret": await ours({ body, headers, secrets: "" }),
};
console.log(JSON.stringify({ verdicts, forms, refused }));
