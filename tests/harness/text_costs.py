"""Compares the CPU time of hostile texts with their size."""

import time
from collections.abc import Awaitable, Callable, Iterator
from typing import Any

from tests.harness.text_places import TEXTS, Hostile

SIZE = 32 * 1024
# One text takes a few milliseconds, a body full of texts a few times as much. Either grows fourfold.
CHEAP = 0.03
BUDGET, FULL_BUDGET = 0.1, 0.6
GROWTH, NOISE = 8, 0.03

# The cases of a text and a size, by name, and what is done with each.
Cases = Callable[[Hostile, int], Iterator[tuple[str, Any]]]
Use = Callable[[Any], Awaitable[object]]


async def cpu_seconds(use: Use, case: Any) -> float:
    started = time.process_time()
    await use(case)
    return time.process_time() - started


async def too_dear(cases: Cases, use: Use) -> list[tuple[str, Hostile, float, float]]:
    """With the CPU time of a quarter of the size, and of the size. The best of three runs counts."""
    found = []
    for text in TEXTS:
        for name, case in cases(text, SIZE):
            for _ in range(3):
                dear = await cpu_seconds(use, case)
                if dear < CHEAP:
                    break
                cheap = await cpu_seconds(use, dict(cases(text, SIZE // 4))[name])
                if dear < (FULL_BUDGET if "…" in name else BUDGET) and dear < GROWTH * cheap + NOISE:
                    break
            else:
                found.append((name, text, round(cheap, 3), round(dear, 3)))
    return found
