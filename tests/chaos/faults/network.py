"""Links that refuse, reset, drop, delay or half-close, to servers, between services and to receivers."""

import asyncio
import random
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

from tests.chaos.arena import Arena
from tests.chaos.faults.fault import Fault, Group, Injection
from tests.chaos.link import BOTH, REQUESTS, RESPONSES, Link
from tests.harness.eventually import in_background

HALF_CLOSE_EVERY = 0.5
# The links that writes and their events use. A fault elsewhere would have no effect.
TARGETS = ("postgres", "rabbit", "bookings", "forms", "ordered", "unordered")


def cut(start: Callable[[Link, random.Random], None]) -> Injection:
    @asynccontextmanager
    async def inject(arena: Arena, draw: random.Random) -> AsyncIterator[str]:
        links = drawn_links(arena, draw)
        for link in links:
            start(link, draw)
        try:
            yield ", ".join(link.name for link in links)
        finally:
            for link in links:
                await link.heal()

    return inject


def drawn_links(arena: Arena, draw: random.Random) -> list[Link]:
    """One link, or every link to one target, so that no other replica can take over."""
    target = draw.choice(TARGETS)
    links = [link for link in arena.links_to(target) if is_used(link.name)]
    return [draw.choice(links)] if draw.random() < 0.5 else links


def is_used(name: str) -> bool:
    """Gateway and catalog have the broker's address but do not use it."""
    process, _, target = name.partition(">")
    return target != "rabbit" or process.startswith(("bookings", "forms", "webhooks"))


@asynccontextmanager
async def cut_off(arena: Arena, draw: random.Random) -> AsyncIterator[str]:
    """One replica and one server, with nothing else wrong: the other replica must take over."""
    link = arena.links[f"{draw.choice(arena.with_a_twin())}>{draw.choice(['postgres', 'rabbit'])}"]
    if draw.random() < 0.5:
        link.refuse()
    else:
        link.hold(BOTH)
    try:
        yield f"{link.name}, for good"
    finally:
        await link.heal()


def one_way(link: Link, draw: random.Random) -> None:
    link.hold(frozenset({draw.choice([REQUESTS, RESPONSES])}))


def delay(link: Link, draw: random.Random) -> None:
    link.delay = draw.uniform(0.05, 0.4)


@asynccontextmanager
async def half_close(arena: Arena, draw: random.Random) -> AsyncIterator[str]:
    """Again and again: connections that are opened meanwhile are half-closed too."""
    links, direction = drawn_links(arena, draw), draw.choice([REQUESTS, RESPONSES])

    async def repeat() -> None:
        while True:
            for link in links:
                link.half_close(direction)
            await asyncio.sleep(HALF_CLOSE_EVERY)

    async with in_background(repeat()):
        yield f"{direction} of {', '.join(link.name for link in links)}"


NETWORK = Group(
    "network",
    (
        Fault("refuse", cut(lambda link, _: link.refuse()), (1.0, 6.0)),
        Fault("reset", cut(lambda link, _: link.reset()), (1.0, 6.0)),
        Fault("blackhole", cut(lambda link, _: link.hold(BOTH)), (2.0, 14.0)),
        Fault("delay", cut(delay), (2.0, 5.0)),
        Fault("half-close", half_close, (1.0, 4.0)),
        Fault("one way only", cut(one_way), (2.0, 14.0)),
        Fault("a replica cut off for good", cut_off, (0.0, 0.0), lasting=True),
    ),
)
