"""A machine that disappears: replicas in a network namespace whose link goes down, so that no FIN arrives.

The recovery is measured while it is gone: the others have to take over its leases.
"""

import asyncio
import os
import random
import shutil
import subprocess
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from tests.chaos.arena import Arena
from tests.chaos.faults.fault import Fault, Group
from tests.harness.eventually import eventually
from tests.harness.system import Process

NAMESPACE = f"studio-chaos-{os.getpid()}"
OUTSIDE, INSIDE = f"sco{os.getpid() % 100_000}", f"sci{os.getpid() % 100_000}"
HERE, THERE = "10.213.7.1", "10.213.7.2"
PORT = 8080
# What each replica on that machine leases, in the schema of its service.
ROLES = {"bookings": "relay", "webhooks": "event-log"}


def missing() -> str | None:
    if os.geteuid() != 0:
        return "network namespaces need root"
    return None if shutil.which("ip") else "network namespaces need iproute2 (the command ip)"


async def ip(*words: str) -> None:
    await asyncio.to_thread(subprocess.run, ["ip", *words], check=True)


@asynccontextmanager
async def other_machine(arena: Arena) -> AsyncIterator[None]:
    """Has a third replica of bookings and one of the event log, with links to Postgres and the broker."""
    await ip("netns", "add", NAMESPACE)
    processes: dict[str, Process] = {}
    try:
        await ip("link", "add", OUTSIDE, "type", "veth", "peer", "name", INSIDE, "netns", NAMESPACE)
        await ip("addr", "add", f"{HERE}/24", "dev", OUTSIDE)
        await ip("link", "set", OUTSIDE, "up")
        for words in (
            ("addr", "add", f"{THERE}/24", "dev", INSIDE),
            ("link", "set", INSIDE, "up"),
            ("link", "set", "lo", "up"),
        ):
            await ip("netns", "exec", NAMESPACE, "ip", *words)
        await _listen_there(arena)
        for place, service in enumerate(ROLES):
            processes[service] = _replica(arena, service, PORT + place)
            processes[service].start()
        for process in processes.values():
            await asyncio.to_thread(process.wait_ready)
        yield
    finally:
        for process in processes.values():
            process.kill()
        await ip("netns", "delete", NAMESPACE)
        arena.postgres_settings.pop("listen_addresses", None)


async def _listen_there(arena: Arena) -> None:
    """Postgres after a restart, the broker at once. The broker forgets it when it is restarted."""
    with (arena.postgres.data / "pg_hba.conf").open("a") as rules:
        rules.write(f"host all all {THERE}/32 scram-sha-256\n")
    arena.postgres_settings["listen_addresses"] = f"127.0.0.1,{HERE}"
    await asyncio.to_thread(arena.postgres.stop)
    await arena.start_postgres()
    port = arena.rabbit.port
    listen = f'rabbit_networking:start_tcp_listener({{"{HERE}", {port}, auto}}, 10).'
    await asyncio.to_thread(arena.rabbit.control, "eval", listen)
    guests = "application:set_env(rabbit, loopback_users, [])."
    await asyncio.to_thread(arena.rabbit.control, "eval", guests)


def _replica(arena: Arena, service: str, port: int) -> Process:
    environment = arena.processes[f"{service}-1"].environment | {
        "STUDIO_DATABASE_URL": arena.database_url.replace("127.0.0.1", HERE),
        "STUDIO_AMQP_URL": arena.rabbit.url.replace("127.0.0.1", HERE),
        "STUDIO_HOST": THERE,
        "STUDIO_PORT": str(port),
    }
    # Receivers are not reachable from there, so this replica logs events but does not dispatch.
    words = ["serve", service, *(["--only", "log"] if service == "webhooks" else [])]
    log = arena.folder / f"{service}-vanishing.log"
    process = Process(words, environment, f"http://{THERE}:{port}/health/ready", log)
    process.words = ["ip", "netns", "exec", NAMESPACE, *process.words]
    return process


@asynccontextmanager
async def vanish(arena: Arena, draw: random.Random) -> AsyncIterator[str]:
    """First restores the link of the last round, and waits until the machine shares the work again."""
    await ip("link", "set", OUTSIDE, "up")
    for service, role in ROLES.items():
        await eventually(lambda s=service, r=role: _is_shared(arena, s, r), seconds=120)  # type: ignore[misc]
    await ip("link", "set", OUTSIDE, "down")
    yield "link down, and it stays down"


async def _is_shared(arena: Arena, service: str, role: str) -> bool:
    """Whether three replicas hold leases now, one of them on that machine."""
    sql = (
        f"SELECT count(DISTINCT replica) AS n FROM {service}.leases "  # noqa: S608
        "WHERE role = $1 AND renewed_at > clock_timestamp() - interval '3 seconds'"
    )
    [row] = await arena.rows(sql, role)
    return bool(row["n"] == 3)


VANISHED = Group(
    "vanished", (Fault("machine vanishes", vanish, (0.0, 0.0), lasting=True),), other_machine, missing
)
