"""Three RabbitMQ nodes on loopback that replicate every queue, behind one address, as in Kubernetes."""

import asyncio
import secrets
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from enum import StrEnum
from pathlib import Path

import pytest

from shared.servers.ports import free_port
from tests.harness.debian_release import fetch_rabbitmq_4
from tests.harness.eventually import until
from tests.harness.rabbitmq import HOW_TO_INSTALL, PrivateRabbit, RabbitBinaries, find_rabbitmq, greets
from tests.harness.rolling_restart import Balancer, balancing

NODES = 3
POLL_SECONDS = 0.5
# As in deploy/helm/templates/broker.yaml. A quorum queue has three members by default.
SETTINGS = """\
cluster_partition_handling = pause_minority
cluster_formation.peer_discovery_backend = rabbit_peer_discovery_classic_config
"""


class Version(StrEnum):
    """This machine's own, and that of a newer Debian release."""

    OWN = "rabbitmq-3.10"
    NEWER = "rabbitmq-4"


HOW_TO_GET = {
    Version.OWN: HOW_TO_INSTALL,
    Version.NEWER: "it comes from a mirror of Debian, by apt-get and dpkg-deb",
}


class Node(PrivateRabbit):
    """The nodes find one another through one epmd, which the first of them starts."""

    def __init__(self, home: Path, binaries: RabbitBinaries, mapper_port: int, cookie: str) -> None:
        super().__init__(home, binaries)
        self.mapper_port = mapper_port
        self._cookie = cookie
        self._env["ERL_EPMD_PORT"] = str(mapper_port)

    @property
    def name(self) -> str:
        return self._env["RABBITMQ_NODENAME"]

    def kill(self) -> None:
        """At once. The other nodes know every queue that was declared."""
        if self._node is not None:
            self._node.kill()

    def join(self, others: list["Node"]) -> None:
        """Starts for the first time, in the cluster of `others` if there are any."""
        self._prepare_home()
        cookie = self.home / ".erlang.cookie"
        cookie.chmod(0o600)
        cookie.write_text(self._cookie)
        cookie.chmod(0o400)
        members = enumerate((*others, self), start=1)
        named = [f"cluster_formation.classic_config.nodes.{place} = {node.name}\n" for place, node in members]
        (self.home / "rabbitmq.conf").write_text(SETTINGS + "".join(named))
        self.start_again()


class BrokerCluster:
    def __init__(self, nodes: list[Node], balancer: Balancer) -> None:
        self.nodes = nodes
        self._balancer = balancer

    @property
    def url(self) -> str:
        """New connections go to a node that was alive a moment ago."""
        return f"amqp://guest:guest@127.0.0.1:{self._balancer.port}/"

    async def kill(self, number: int) -> None:
        await asyncio.to_thread(self.nodes[number].kill)

    async def revive(self, number: int) -> None:
        """Returns once it accepts clients. It then catches up with what the others have."""
        node = self.nodes[number]
        await asyncio.to_thread(node.start_again)
        await until(lambda: node.port in self._balancer.ready)


@asynccontextmanager
async def broker_cluster(home: Path, version: Version) -> AsyncIterator[BrokerCluster]:
    binaries = await asyncio.to_thread(find_rabbitmq if version is Version.OWN else fetch_rabbitmq_4)
    if binaries is None:
        pytest.skip(f"{version} cannot be had here: {HOW_TO_GET[version]}")
    mapper_port, cookie = free_port(), secrets.token_hex(16)
    nodes: list[Node] = []
    try:
        for number in range(1, NODES + 1):
            nodes.append(Node(home / f"broker-{number}", binaries, mapper_port, cookie))
            await asyncio.to_thread(nodes[-1].join, nodes[:-1])
        async with balancing(POLL_SECONDS, _accepts) as balancer:
            for node in nodes:
                await balancer.until_ready(node.port)
            yield BrokerCluster(nodes, balancer)
    finally:
        # The first one last: it stops epmd.
        for node in reversed(nodes):
            await asyncio.to_thread(node.stop)


async def _accepts(port: int) -> bool:
    return await asyncio.to_thread(greets, port)
