// The gateway's requests: rate, failures and latency between two readings of its metrics.
const LINE = /^studio_(requests_total|request_seconds_bucket)\{(.*)\} ([\d.e+-]+)$/;

// Sums over all routes of the gateway; the rest of the text is left alone.
export function readMetrics(text) {
  const found = { requests: 0, failed: 0, buckets: new Map() };
  for (const line of text.split("\n")) {
    const [, name, labels, value] = LINE.exec(line) || [];
    if (!name || !labels.includes('service="gateway"')) continue;
    if (name === "requests_total") {
      found.requests += Number(value);
      if (/status="5/.test(labels)) found.failed += Number(value);
    } else {
      const bound = Number(/le="([^"]+)"/.exec(labels)[1].replace("+Inf", "Infinity"));
      found.buckets.set(bound, (found.buckets.get(bound) || 0) + Number(value));
    }
  }
  return found;
}

// What happened between two readings, a second and in milliseconds.
export function between(before, after, seconds) {
  const counts = [...after.buckets].map(([bound, count]) => [bound, count - (before.buckets.get(bound) || 0)]).sort((a, b) => a[0] - b[0]);
  const all = counts.length ? counts.at(-1)[1] : 0;
  const under = (share) => {
    const reached = counts.find(([, count]) => all > 0 && count >= all * share);
    return reached && Number.isFinite(reached[0]) ? reached[0] * 1000 : 0;
  };
  const round = (value) => Math.round(value * 10) / 10;
  return {
    "requests a second": round((after.requests - before.requests) / seconds), "failures (5xx) a second": round((after.failed - before.failed) / seconds),
    "half answered within ms": under(0.5), "95 of 100 answered within ms": under(0.95),
  };
}
