dofile(os.getenv("BENCH_SCRIPTS") .. "/common.lua")
wrk.headers["X-Service-Key"] = os.getenv("BENCH_KEY")
local tag = os.getenv("BENCH_TAG")
if tag then
    wrk.headers["If-None-Match"] = tag
end
