-- Holds a seat, then confirms it: each response with a hold is followed by a request that confirms it.
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
local body = '{"class_id":"%08x-0000-4000-8000-%012x","member_id":"%08x-0000-4000-9000-%012x","hold_seconds":900}'
local held = {}

function request()
    local id = table.remove(held)
    if id then
        headers["Idempotency-Key"] = "confirm-" .. id
        return wrk.format("POST", path .. "/" .. id .. "/confirm", headers)
    end
    n = n + 1
    headers["Idempotency-Key"] = string.format("bench-hold-%012x", n)
    local class, member = 1 + n % classes, 1 + n % members
    return wrk.format("POST", path, headers, string.format(body, studio, class, studio, member))
end

function response(status, _, text)
    if status == 201 then
        table.insert(held, string.match(text, '"id":"([^"]+)"'))
    end
end
