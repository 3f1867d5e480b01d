-- Every request is for another pair of class and member, and has an Idempotency-Key of its own.
dofile(os.getenv("BENCH_SCRIPTS") .. "/common.lua")
local studio = tonumber(os.getenv("BENCH_STUDIO"))
local classes = tonumber(os.getenv("BENCH_CLASSES"))
local members = tonumber(os.getenv("BENCH_MEMBERS"))
local first_class = tonumber(os.getenv("BENCH_FIRST_CLASS"))
local n = tonumber(os.getenv("BENCH_FIRST"))
local headers = {
    ["X-Service-Key"] = os.getenv("BENCH_KEY"),
    ["Content-Type"] = "application/json",
}
local body = '{"class_id":"%08x-0000-4000-8000-%012x","member_id":"%08x-0000-4000-9000-%012x"}'

function request()
    n = n + 1
    headers["Idempotency-Key"] = string.format("bench-%x-%012x", first_class, n)
    local class = first_class + n % classes
    local member = 1 + n % members
    return wrk.format("POST", nil, headers, string.format(body, studio, class, studio, member))
end
