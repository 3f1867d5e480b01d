// Requests over time. GET /requests/histogram counts them; where it is not there, the newest thousand rows are counted here.
export const SPANS = { "1h": [3600, 60], "24h": [86400, 24], "7d": [604800, 28] };
const ROWS = 1000;

export function buckets(span, count, now = Date.now()) {
  const step = (span * 1000) / count, end = Math.ceil(now / step) * step;
  return { step, first: end - step * count, points: Array.from({ length: count }, (_, n) => ({ at: new Date(end - step * (count - n)).toISOString(), values: [0, 0, 0], slow: [] })) };
}
const classOf = (status) => (status >= 500 ? 2 : status >= 400 ? 1 : 0);
export const percentile = (values, share) => (values.length ? values.toSorted((a, b) => a - b)[Math.min(values.length - 1, Math.floor(values.length * share))] : null);

export class Traffic {
  constructor(app) { Object.assign(this, { app, rows: null, at: 0 }); }
  // The newest rows; the second time only those that came since.
  async newest(signal) {
    if (this.reading) return this.reading;
    if (this.rows && Date.now() - this.at < 4000) return this.rows;
    const known = new Set((this.rows?.rows || []).map((row) => row.id));
    this.reading = (async () => {
      const fresh = [];
      let cursor, page;
      do {
        page = await this.app.api.get("/requests", { source: "key", limit: known.size ? 50 : 200, cursor }, { quiet: true, signal });
        fresh.push(...page.data.filter((row) => !known.has(row.id)));
        cursor = page.next_cursor;
      } while (cursor && fresh.length < ROWS && !page.data.some((row) => known.has(row.id)));
      const rows = [...fresh, ...(this.rows?.rows || [])];
      this.rows = { rows: rows.slice(0, ROWS), more: Boolean(this.rows ? this.rows.more || rows.length > ROWS : cursor) };
      this.at = Date.now();
      return this.rows;
    })().finally(() => { this.reading = null; });
    return this.reading;
  }
  // { points: [{ at, values: [2xx and 3xx, 4xx, 5xx] }], total, errors, p95, peak, codes, partial }
  async of(name, signal, count) {
    const [span, usual] = SPANS[name];
    const { rows, more } = await this.newest(signal);
    const { step, first, points } = buckets(span, count || usual);
    const seconds = new Map(), codes = new Map(), times = [];
    let errors = 0, total = 0;
    for (const row of rows) {
      const at = new Date(row.at).getTime(), point = points[Math.floor((at - first) / step)];
      if (!point) continue;
      const kind = classOf(row.status);
      point.values[kind] += 1;
      point.slow.push(row.duration_ms);
      times.push(row.duration_ms);
      total += 1;
      if (kind) errors += 1;
      if (row.error_code && at > Date.now() - 3600000) codes.set(row.error_code, [(codes.get(row.error_code)?.[0] || 0) + 1, row.status]);
      if (at > Date.now() - 3600000) seconds.set(Math.floor(at / 1000), (seconds.get(Math.floor(at / 1000)) || 0) + 1);
    }
    for (const point of points) point.p95 = percentile(point.slow, 0.95) || 0;
    const oldest = rows.at(-1);
    return { points, total, errors, p95: percentile(times, 0.95), peak: seconds.size ? Math.max(...seconds.values()) : null, codes: [...codes].map(([code, [times_, status]]) => ({ code, times: times_, status })).sort((a, b) => b.times - a.times), partial: more && oldest && new Date(oldest.at) > new Date(points[0].at) };
  }
}
