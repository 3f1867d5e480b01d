"""Times of several requests, taken in turns, so that other load on the machine affects all equally."""

import statistics
import time
from collections.abc import Awaitable, Callable


async def medians_ms(*requests: Callable[[], Awaitable[None]], rounds: int) -> list[float]:
    times: list[list[float]] = [[] for _ in requests]
    for _ in range(rounds):
        for request, taken in zip(requests, times, strict=True):
            started = time.perf_counter()
            await request()
            taken.append((time.perf_counter() - started) * 1000)
    return [statistics.median(taken) for taken in times]
