"""Two versions side by side: replicas of an older commit and of this one, on the current schema."""

import asyncio
import os
import random
import subprocess
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from shared.servers.ports import free_port
from tests.chaos.arena import Arena
from tests.chaos.faults.fault import Fault, Group, Injection
from tests.harness.system import ROOT, Process

# The commit that plays the older version.
OLD = os.environ.get("STUDIO_CHAOS_OLD_COMMIT", "6fa3590")
SERVICES = ("bookings", "catalog", "forms", "webhooks")


def git(*words: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(["git", *words], cwd=ROOT, capture_output=True, text=True, check=False)


def missing() -> str | None:
    if git("cat-file", "-e", f"{OLD}^{{commit}}").returncode == 0:
        return None
    return f"commit {OLD} is not in this clone (git fetch --unshallow)"


def code_in(arena: Arena) -> Path:
    return arena.folder / "old"


@asynccontextmanager
async def old_code(arena: Arena) -> AsyncIterator[None]:
    added = git("worktree", "add", "--detach", str(code_in(arena)), OLD)
    assert added.returncode == 0, added.stderr
    try:
        yield
    finally:
        git("worktree", "remove", "--force", str(code_in(arena)))


def with_old_replica(*, instead: bool) -> Injection:
    """`instead`: the old version replaces a replica of the new one, as in a rollback."""

    @asynccontextmanager
    async def inject(arena: Arena, draw: random.Random) -> AsyncIterator[str]:
        service = draw.choice(SERVICES)
        model = arena.processes[f"{service}-1"]
        port, balancer = free_port(), arena.balancers[service]
        environment = model.environment | {"STUDIO_PORT": str(port), "PYTHONPATH": str(code_in(arena))}
        url = f"http://127.0.0.1:{port}/health/ready"
        log = arena.folder / f"{service}-old.log"
        old = Process(["serve", service], environment, url, log, code_in(arena))
        old.start()
        try:
            await asyncio.to_thread(old.wait_ready)
            balancer.replicas.add(port)
            if instead:
                await asyncio.to_thread(model.stop)
            yield service
            if instead:
                model.start()
                await asyncio.to_thread(model.wait_ready)
        finally:
            await asyncio.to_thread(old.stop if draw.random() < 0.5 else old.kill)
            balancer.replicas.discard(port)

    return inject


VERSIONS = Group(
    "versions",
    (
        Fault("an old replica joins", with_old_replica(instead=False), (2.0, 5.0)),
        Fault("an old replica replaces a new one", with_old_replica(instead=True), (2.0, 5.0)),
    ),
    old_code,
    missing,
)
