"""All groups, in the order in which they run, and two or three faults at once in different parts."""

import random
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager

from msgspec.structs import replace

from tests.chaos.arena import Arena
from tests.chaos.faults.broker import BROKER
from tests.chaos.faults.clock import CLOCK
from tests.chaos.faults.fault import Fault, Group, Injected, Injection
from tests.chaos.faults.kill import KILL, STOP, killed
from tests.chaos.faults.network import NETWORK
from tests.chaos.faults.postgres import POSTGRES
from tests.chaos.faults.receivers import RECEIVERS
from tests.chaos.faults.vanished import VANISHED

# Healed from the last to the first: a process that is started again waits for its servers.
PARTS: tuple[tuple[Fault, ...], ...] = (
    (*KILL.faults[:3], STOP.faults[0]),
    NETWORK.faults[:4],
    RECEIVERS.faults,
    BROKER.faults,
    # A full disk needs root, and a process that is started meanwhile cannot wait for a table.
    POSTGRES.faults[:6],
)


def at_once(count: int) -> Injection:
    def inject(arena: Arena, draw: random.Random) -> Injected:
        return one_of_each(
            [PARTS[place] for place in sorted(draw.sample(range(len(PARTS)), count))], arena, draw
        )

    return inject


@asynccontextmanager
async def one_of_each(
    parts: Sequence[Sequence[Fault]], arena: Arena, draw: random.Random
) -> AsyncIterator[str]:
    chosen = [draw.choice(faults) for faults in parts]
    async with AsyncExitStack() as stack:
        details = [await stack.enter_async_context(fault.inject(arena, draw)) for fault in chosen]
        yield "; ".join(f"{fault.name}: {detail}" for fault, detail in zip(chosen, details, strict=True))


SEVERAL = Group(
    "together",
    (
        Fault("two faults at once", at_once(2), (2.0, 8.0)),
        Fault("three faults at once", at_once(3), (2.0, 8.0)),
    ),
    recovery_seconds=60.0,
)


GROUPS: tuple[Group, ...] = (
    KILL,
    STOP,
    NETWORK,
    VANISHED,
    POSTGRES,
    BROKER,
    RECEIVERS,
    SEVERAL,
    CLOCK,
)


def kill_the_pipeline(arena: Arena, draw: random.Random) -> Injected:
    """Relay, event log and dispatcher at once."""
    return killed(arena, [name for name in arena.processes if name.startswith(("bookings", "webhooks"))])


def harm_the_way_of_an_event(arena: Arena, draw: random.Random) -> Injected:
    pipeline = Fault("kill -9 the pipeline", kill_the_pipeline)
    return one_of_each(((pipeline,), NETWORK.faults[:6], RECEIVERS.faults), arena, draw)


def kill_the_servers(arena: Arena, draw: random.Random) -> Injected:
    parts = (BROKER.only("kill -9").faults, POSTGRES.only("crash").faults)
    return one_of_each(parts, arena, draw)


# One round of each fits into a test. A round takes as long as its slowest recovery, so faults share one.
# Other tests run beside it: how soon all recovers on a machine of its own is for `make chaos` to say.
SHORT: tuple[Group, ...] = tuple(
    replace(group, recovery_seconds=75.0)
    for group in (
        KILL,
        Group("servers", (Fault("kill -9 broker and Postgres", kill_the_servers, (0.2, 2.0)),)),
        Group("way", (Fault("pipeline, links and receivers", harm_the_way_of_an_event, (2.0, 4.0)),)),
    )
)
