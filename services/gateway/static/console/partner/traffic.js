// Requests over time, as the API counts them: { points: [{ at, values: [2xx and 3xx, 4xx, 5xx], p95 }], total, errors, p95, peak, codes }.
export const SPANS = { "1h": "hour", "24h": "24 hours", "7d": "7 days" };
const HOURS = { "1h": 1, "24h": 24, "7d": 168 };
export const spanStart = (span) => new Date(Date.now() - HOURS[span] * 3600000).toISOString();

export async function countsOf(api, query, signal) {
  const counts = await api.get("/requests/counts", query, { signal });
  const points = counts.data.map((bar) => ({ at: bar.at, values: [bar.status_2xx + bar.status_3xx, bar.status_4xx, bar.status_5xx], p95: bar.p95_ms || 0 }));
  const sums = [0, 1, 2].map((kind) => points.reduce((sum, point) => sum + point.values[kind], 0));
  const most = Math.max(0, ...points.map((point) => point.values[0] + point.values[1] + point.values[2]));
  return { points, sums, total: sums[0] + sums[1] + sums[2], errors: sums[1] + sums[2], p95: counts.p95_ms, peak: Math.round((most / counts.bar_seconds) * 10) / 10 };
}
export class Traffic {
  constructor(app) { this.app = app; }
  of(window, signal) { return countsOf(this.app.api, { window, source: "key" }, signal); }
  // The error codes of the last hour, the most frequent first, from the newest refusals.
  async codes(signal) {
    const pages = await Promise.all(["4xx", "5xx"].map((status_class) => this.app.api.get("/requests", { status_class, source: "key", limit: 200 }, { signal })));
    const found = new Map();
    for (const row of pages.flatMap((page) => page.data)) {
      if (!row.error_code || new Date(row.at) < Date.now() - 3600000) continue;
      const known = found.get(row.error_code) || { code: row.error_code, status: row.status, times: 0 };
      known.times += 1;
      found.set(row.error_code, known);
    }
    return [...found.values()].sort((a, b) => b.times - a.times);
  }
}
