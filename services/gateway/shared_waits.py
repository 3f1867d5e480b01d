"""Waits with equal rights for the same page: one request to the event log answers those that begin together.

A partner's workers that are up to date ask for the same page again as soon as they have the last one, ten of
them at once. Each used to cost the event log as much as the first.
"""

import asyncio
import time
from collections.abc import Callable, Coroutine, Hashable
from typing import Any, Final

from msgspec import Struct

from services.gateway.upstream import UpstreamResponse

# Others join in the first hundredth of a wait, so no wait ends earlier than that.
JOIN_SHARE: Final = 0.01


class _Shared(Struct, eq=False):
    task: "asyncio.Task[UpstreamResponse]"
    open_until: float
    waiting: int = 0


class SharedWaits:
    def __init__(self) -> None:
        self._shared: dict[Hashable, _Shared] = {}

    async def wait(
        self, what: Hashable, seconds: float, forward: Callable[[], Coroutine[Any, Any, UpstreamResponse]]
    ) -> UpstreamResponse:
        """What `forward` returns, of this or of an earlier call for the same."""
        now = time.monotonic()
        shared = self._shared.get(what)
        if shared is None or now > shared.open_until or shared.task.done():
            shared = self._shared[what] = _Shared(asyncio.create_task(forward()), now + seconds * JOIN_SHARE)
        joined = shared.waiting > 0
        shared.waiting += 1
        try:
            response = await asyncio.shield(shared.task)
        finally:
            shared.waiting -= 1
            if not shared.waiting:
                shared.task.cancel()
                if self._shared.get(what) is shared:
                    del self._shared[what]
        if joined and response.status != 200:
            # An error names the request that it answers.
            return await forward()
        return UpstreamResponse(response.status, list(response.headers), response.body)
