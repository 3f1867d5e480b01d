// Follows from the last line of a file, and adds one line for each event: a position is stored with what was done.
import { appendFileSync, existsSync, readFileSync } from "node:fs";
import { Client, ResyncNeeded } from "studio-partner";

const [file, baseUrl, key] = process.argv.slice(2);
const lines = existsSync(file) ? readFileSync(file, "utf8").trim().split("\n") : [];
const client = new Client({ baseUrl, key });
try {
  for await (const event of client.events.follow(Number(lines.at(-1)?.split(" ")[0] ?? 0))) {
    appendFileSync(file, `${event.sequence} ${event.data.object.id}\n`);
  }
} catch (problem) {
  if (!(problem instanceof ResyncNeeded)) throw problem;
  console.log(JSON.stringify({ reason: problem.reason, oldest: problem.oldestSequence }));
}
