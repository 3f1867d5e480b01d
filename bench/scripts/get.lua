dofile(os.getenv("BENCH_SCRIPTS") .. "/common.lua")
wrk.headers["X-Service-Key"] = os.getenv("BENCH_KEY")
