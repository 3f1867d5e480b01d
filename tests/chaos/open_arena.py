"""Opens the arena: servers, links, replicas, a studio with two endpoints."""

import asyncio
import os
import signal
import subprocess
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from pathlib import Path
from urllib.parse import urlsplit

import aiohttp

from services.cli.secrets import with_secrets
from shared.db.migrate import migrate
from shared.events.outbox import PARTITIONS, partition_of
from shared.servers.ports import free_port
from shared.servers.postgres import EmbeddedPostgres
from shared.settings import SERVICES, Settings
from tests.chaos.arena import DATABASE, ENDPOINTS, MOUNT_BYTES, Arena
from tests.chaos.ledger import Endpoint
from tests.chaos.link import linked
from tests.chaos.receiver import receiving
from tests.chaos.writers import Gateway
from tests.harness.broker_cluster import Version, broker_cluster
from tests.harness.http import Client
from tests.harness.rabbitmq import PrivateRabbit
from tests.harness.rolling_restart import balancing
from tests.harness.system import Process, RunningSystem, System, environment_for

REPLICAS = {"gateway": 2, "catalog": 1, "bookings": 2, "forms": 2, "webhooks": 2}
# Webhooks may run as two kinds of processes.
ROLES = {"log": ["webhooks", "--only", "log"], "dispatch": ["webhooks", "--only", "dispatch"]}
# Short delays, but enough of them that no delivery dies during a fault.
RETRY_SCHEDULE = ",".join(["0.2", "0.4", "0.8", "1", *["2"] * 60])
POLL_SECONDS = 0.3
# All processes start at the same time.
START_SECONDS = 300.0


@asynccontextmanager
async def open_arena(
    folder: Path,
    replicas: Mapping[str, int] = REPLICAS,
    studios: int = PARTITIONS,
    cluster: Version | None = None,
) -> AsyncIterator[Arena]:
    """At most as many studios as there are partitions. The broker is one node, or a `cluster` of three."""
    async with AsyncExitStack() as stack:
        mount = _mounted(folder / "pg", stack)
        # A tmpfs is memory, so old WAL must not pile up.
        settings = {"max_wal_size": "128MB"}
        postgres = await asyncio.to_thread(
            EmbeddedPostgres.start, folder / "pg", durable=True, settings=settings
        )
        brokers = await stack.enter_async_context(broker_cluster(folder, cluster)) if cluster else None
        rabbit = (
            brokers.nodes[0] if brokers else await asyncio.to_thread(PrivateRabbit.start, folder / "rabbit")
        )
        arena = Arena(folder, postgres, rabbit)
        arena.cluster, arena.mount, arena.postgres_settings = brokers, mount, settings
        stack.push_async_callback(_stop_servers, arena)
        await arena.admin(f"CREATE DATABASE {DATABASE}")
        await migrate(arena.database_url, SERVICES)
        session = await stack.enter_async_context(
            aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0))
        )
        await _start_services(arena, stack, session, replicas)
        for _ in range(studios):
            await _open_studio(arena, stack, session)
        yield arena


def _mounted(folder: Path, stack: AsyncExitStack) -> Path | None:
    """For disk faults. Only root may mount."""
    folder.mkdir(mode=0o711)
    words = ["mount", "-t", "tmpfs", "-o", f"size={MOUNT_BYTES},mode=0711", "tmpfs", str(folder)]
    if os.geteuid() != 0 or subprocess.run(words, capture_output=True, check=False).returncode != 0:
        return None
    stack.callback(subprocess.run, ["umount", "--lazy", str(folder)], check=False)
    return folder


async def _stop_servers(arena: Arena) -> None:
    with suppress(Exception):
        if arena.cluster is None:
            await asyncio.to_thread(arena.rabbit.stop)
    with suppress(Exception):
        await asyncio.to_thread(arena.postgres.stop)


async def _start_services(
    arena: Arena, stack: AsyncExitStack, session: aiohttp.ClientSession, replicas: Mapping[str, int]
) -> None:
    made = with_secrets(Settings(home=arena.folder / "home"), make=True)
    for service in SERVICES:
        arena.balancers[service] = await stack.enter_async_context(balancing(POLL_SECONDS))
    operator_ports = {}
    for name, words in _named(replicas):
        service = words[0]
        environment = await _environment(arena, stack, name, service)
        if service == "gateway":
            operator_ports[name] = free_port()
            environment["STUDIO_OPERATOR_PORT"] = str(operator_ports[name])
        url = f"http://127.0.0.1:{arena.ports[name]}/health/ready"
        process = Process(["serve", *words], environment, url, arena.folder / f"{name}.log")
        arena.processes[name] = process
        stack.callback(_end, process)
        process.start()
    for process in arena.processes.values():
        await asyncio.to_thread(process.wait_ready, START_SECONDS)
    for name, words in _named(replicas):
        if words != ROLES["dispatch"]:  # it serves no requests
            await arena.balancers[words[0]].until_ready(arena.ports[name])
    token = made.operator_tokens[0]
    running = RunningSystem(arena.ports["gateway-1"], operator_ports["gateway-1"], token, arena.folder)
    arena.system = System(running, session)
    headers = {"Authorization": f"Bearer {token}"}
    arena.gateways = [
        Gateway(name, Client(session, f"http://127.0.0.1:{port}/operator/v1", headers), {})
        for name, port in operator_ports.items()
    ]


def _named(replicas: Mapping[str, int]) -> Iterator[tuple[str, list[str]]]:
    """Each process with the words that `serve` takes."""
    for role, count in replicas.items():
        for number in range(1, count + 1):
            yield f"{role}-{number}", ROLES.get(role, [role])


def _end(process: Process) -> None:
    """Even if a fault has left it stopped by SIGSTOP."""
    if process.child is not None and process.child.poll() is None:
        process.child.send_signal(signal.SIGCONT)
        process.kill()


async def _environment(arena: Arena, stack: AsyncExitStack, name: str, service: str) -> dict[str, str]:
    """Each process has its own links to Postgres, to the broker and, in a gateway, to each service."""

    async def link(target: str, port: int) -> int:
        made = await stack.enter_async_context(linked(f"{name}>{target}", port))
        arena.links[made.name] = made
        return made.port

    arena.ports[name] = port = free_port()
    settings = {
        "STUDIO_DATABASE_URL": _at(arena.database_url, await link("postgres", arena.postgres.port)),
        "STUDIO_AMQP_URL": _at(arena.amqp_url, await link("rabbit", urlsplit(arena.amqp_url).port or 0)),
        "STUDIO_PORT": str(port),
        "STUDIO_WEBHOOK_RETRY_SCHEDULE": RETRY_SCHEDULE,
        "STUDIO_POOL_SIZE": "8",
    }
    if service == "gateway":
        for other in (each for each in SERVICES if each != "gateway"):
            inside = await link(other, arena.balancers[other].port)
            settings[f"STUDIO_{other.upper()}_URL"] = f"http://127.0.0.1:{inside}"
    return environment_for(arena.folder / "home") | settings


def _at(url: str, port: int) -> str:
    """The same URL on another port."""
    head, _, tail = url.rpartition("127.0.0.1:")
    return f"{head}127.0.0.1:{port}/{tail.partition('/')[2]}"


async def _open_studio(arena: Arena, stack: AsyncExitStack, session: aiohttp.ClientSession) -> None:
    system = arena.system
    studio_id = await _studio_in_a_free_partition(arena)
    issued = await system.issue(studio=studio_id)
    await system.limit(issued)
    for gateway in arena.gateways:
        url = f"http://127.0.0.1:{arena.ports[gateway.name]}/partner/v1"
        gateway.clients[studio_id] = Client(session, url, {"X-Service-Key": issued["key"]})
    for kind, fifo in ENDPOINTS.items():
        name = f"{kind}.{len(arena.studio_ids)}"
        receiver = await stack.enter_async_context(receiving(name, arena.ledger.note))
        arena.receivers[name] = receiver
        link = await stack.enter_async_context(linked(f"webhooks>{name}", receiver.port))
        arena.links[link.name] = link
        url = f"http://127.0.0.1:{link.port}/hook"
        client = arena.gateways[0].clients[studio_id]
        made = await client.create("/webhook-endpoints", {"url": url, "fifo": fifo})
        arena.ledger.endpoints[name] = Endpoint(studio_id, fifo, made["secret"], made["id"], url)


async def _studio_in_a_free_partition(arena: Arena) -> str:
    """A studio's partition follows from its id, so some are made in vain."""
    taken = {partition_of(studio_id) for studio_id in arena.studio_ids}
    while True:
        studio_id = await arena.system.new_studio()
        if partition_of(studio_id) not in taken:
            arena.studio_ids.append(studio_id)
            return studio_id
