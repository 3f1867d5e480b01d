// Health: every service, its figures over the last minutes, and parked messages.
import { ask, badge, button, facts, h, section } from "../dom.js";
import { trend } from "../charts.js";
import { repeat } from "../live.js";
import { guarded } from "../shell.js";
import { table } from "../tables.js";
import { between, readMetrics } from "./traffic.js";

export const title = "Health";
const KEPT = 60;

export async function render({ place, api, signal }) {
  const services = h("div", { class: "page" });
  const queues = h("div", {});
  const history = new Map();
  const traffic = h("div", { class: "figures" }, "Measuring…");
  place.append(section("Traffic of this gateway", traffic), services, section("Queues", queues));
  let quiet = false;
  const step = async () => {
    try {
      const status = await api.get("/status", {}, { quiet });
      services.replaceChildren(...Object.entries(status.services).map(([name, service]) => card(name, service, history)));
    } catch (error) { services.replaceChildren(h("p", { role: "alert" }, error.message)); }
    quiet = true;
    await measure(traffic, history, signal).catch(() => {});
  };
  await step();
  await guarded(queues, () => showQueues(api, queues))();
  repeat(step, 5, signal);
}

// A figure with its last values as a line.
function drawn(history, name, figure, value) {
  const key = `${name} ${figure}`;
  const values = [...(history.get(key) || []), value].slice(-KEPT);
  history.set(key, values);
  return h("div", {}, h("small", {}, `${figure}: ${value}`), trend(values, figure));
}

async function measure(place, history, signal) {
  const answer = await fetch("/metrics", { signal, cache: "no-store" });
  const now = { at: performance.now(), ...readMetrics(await answer.text()) };
  const before = history.get("metrics");
  history.set("metrics", now);
  if (before) place.replaceChildren(...Object.entries(between(before, now, (now.at - before.at) / 1000)).map(([figure, value]) => drawn(history, "traffic", figure, value)));
}

function card(name, service, history) {
  const figures = [...numbers(service.figures || {})].map(([figure, value]) => drawn(history, name, figure, value));
  const parts = Object.entries(service.parts || {}).map(([part, state]) => [part, state]);
  return section(name, h("p", {}, badge(service.status), service.problem ? ` ${service.problem}` : ""), facts(parts), figures.length ? h("div", { class: "figures" }, figures) : null);
}

function* numbers(value, path = []) {
  for (const [name, inner] of Object.entries(value)) {
    if (typeof inner === "number") yield [[...path, name].join(" ").replaceAll("_", " "), Math.round(inner * 100) / 100];
    else if (inner && typeof inner === "object" && !Array.isArray(inner)) yield* numbers(inner, [...path, name]);
  }
}

async function showQueues(api, place) {
  const { data } = await api.get("/queues");
  const result = h("div", { role: "status" });
  const look = (queue) => guarded(result, async () => {
    const parked = await api.get(`/queues/${encodeURIComponent(queue)}/parked`);
    result.replaceChildren(table(`Parked in ${queue}`, [["Message", (row) => row.id], ["Topic", (row) => row.topic], ["Reason", (row) => row.reason]], parked.data, "Nothing is parked."));
  });
  const requeue = (queue) => guarded(result, async () => {
    if (!(await ask("Send parked messages back?", `Every message that is parked in ${queue} will be processed again.`, "Send them back"))) return;
    const { requeued } = await api.post(`/queues/${encodeURIComponent(queue)}/parked/requeue`, { ids: null });
    result.replaceChildren(`${requeued} sent back.`);
  });
  place.replaceChildren(table("Message queues", [["Queue", (row) => row.name], ["Waiting", (row) => String(row.waiting)], ["Parked", (row) => String(row.parked)],
    ["Actions", (row) => (row.parked ? [button("Look", look(row.name), { "aria-label": `Look at ${row.name}` }), button("Requeue", requeue(row.name), { "aria-label": `Requeue ${row.name}` })] : null)]], data, "No queues here: events travel inside the process."), result);
}
