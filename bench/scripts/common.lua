-- The last line of output is JSON, for load.py.
function done(summary, latency, requests)
    local e = summary.errors
    io.write(string.format(
        '\n{"requests":%d,"microseconds":%d,"p50":%d,"p99":%d,"bad_status":%d,"broken":%d}\n',
        summary.requests, summary.duration, latency:percentile(50), latency:percentile(99),
        e.status, e.connect + e.read + e.write + e.timeout))
end

-- With a think time the offered load stays below the peak; exponential, as arrivals are.
local think = tonumber(os.getenv("BENCH_THINK_MS") or "0")
if think > 0 then
    function delay()
        return -math.log(1 - math.random()) * think
    end
end
