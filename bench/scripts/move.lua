-- Every request moves the next booking to another class; after the last one, the first is moved on.
dofile(os.getenv("BENCH_SCRIPTS") .. "/common.lua")
local studio = tonumber(os.getenv("BENCH_STUDIO"))
local classes = tonumber(os.getenv("BENCH_CLASSES"))
local members = tonumber(os.getenv("BENCH_MEMBERS"))
local n = tonumber(os.getenv("BENCH_FIRST"))
local path = os.getenv("BENCH_PATH")
local headers = {
    ["X-Service-Key"] = os.getenv("BENCH_KEY"),
    ["Content-Type"] = "application/json",
}
local target = "%s/%08x-0000-4000-b000-%012x/reschedule"
local body = '{"class_id":"%08x-0000-4000-8000-%012x"}'

function request()
    n = n + 1
    headers["Idempotency-Key"] = string.format("bench-move-%012x", n)
    local booking = 1 + n % members
    local class = 1 + (booking + 7 * (1 + math.floor(n / members))) % classes
    return wrk.format("POST", string.format(target, path, studio, booking), headers, string.format(body, studio, class))
end
