"""CPU time per use in one process, over short interleaved rounds."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping

import msgspec

Use = Callable[[], Awaitable[None]]
AT_ONCE = 16


async def in_turns(ways: Mapping[str, Use], *, rounds: int, uses: int) -> dict[str, list[float]]:
    """µs of CPU per use. Wall time would include other load on this machine."""
    found: dict[str, list[float]] = {name: [] for name in ways}
    for use in ways.values():
        await _cpu_of(use, uses)
    names = list(ways)
    for number in range(rounds):
        for name in names[number % len(names) :] + names[: number % len(names)]:
            found[name].append(await _cpu_of(ways[name], uses))
    return found


async def _cpu_of(use: Use, uses: int) -> float:
    async def some() -> None:
        for _ in range(uses // AT_ONCE):
            await use()

    began = time.process_time()
    await asyncio.gather(*(some() for _ in range(AT_ONCE)))
    return (time.process_time() - began) / (uses // AT_ONCE * AT_ONCE) * 1e6


def told(found: Mapping[str, Mapping[str, list[float]]]) -> str:
    return msgspec.json.encode(found).decode()
