"""Ready tells which part is not well, and whether requests are served all the same.

What only works beside the requests must not take them away: while the broker is down bookings go on, their
events wait in the outbox. Readiness that failed for it would make a cluster send nobody here any more. A
process that has not had such a part yet is not ready, so that a roll-out with a wrong setting stops at once.
"""

from collections.abc import Awaitable, Callable, Mapping

from litestar.types import ASGIApp, Receive, Scope, Send

from shared.wire import encode

Check = Callable[[], Awaitable[str | None]]
# Writes one answer: body, status.
Write = Callable[[Scope, Send, bytes, int], Awaitable[None]]


class OptionalCheck:
    """The check of a part that requests do not need; it must have been well once."""

    def __init__(self, problem: Callable[[], str | None]) -> None:
        self._problem = problem
        self.has_passed = False

    async def __call__(self) -> str | None:
        problem = self._problem()
        self.has_passed = self.has_passed or problem is None
        return problem


def readiness(checks: Mapping[str, Check], write: Write) -> ASGIApp:
    """200 `ready`, 200 `degraded` when requests are served and something beside them is not well, 503."""

    async def ready(scope: Scope, receive: Receive, send: Send) -> None:
        problems = {part: await check() for part, check in checks.items()}
        bad = [checks[part] for part, problem in problems.items() if problem]
        serves = all(isinstance(check, OptionalCheck) and check.has_passed for check in bad)
        status = "not_ready" if not serves else "degraded" if bad else "ready"
        parts = {part: problem or "ok" for part, problem in problems.items()}
        await write(scope, send, encode({"status": status, "parts": parts}), 200 if serves else 503)

    return ready
