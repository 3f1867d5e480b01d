"""A private broker survives what the tests do to it, and leaves nothing behind."""

import subprocess
import sys
from pathlib import Path

import aio_pika
import pytest

from shared.servers.ports import is_free
from shared.servers.rabbitmq import greets
from shared.servers.rabbitmq_binaries import find_rabbitmq
from tests.harness.servers import Rabbit
from tests.shared.servers.rows import wait_until

OWNER = """
import sys, time
from pathlib import Path
from shared.servers.rabbitmq import PrivateRabbit
rabbit = PrivateRabbit.start(Path(sys.argv[1]))
print(rabbit.port, rabbit.mapper_port, flush=True)
time.sleep(600)
"""


async def test_a_confirmed_message_survives_a_kill(rabbit: Rabbit, amqp_url: str) -> None:
    """A killed node comes back on the same port with its durable queues and their messages."""
    async with await aio_pika.connect(amqp_url) as connection:
        channel = await connection.channel()
        await channel.declare_queue("kept", durable=True, arguments={"x-queue-type": "quorum"})
        message = aio_pika.Message(b"confirmed", delivery_mode=aio_pika.DeliveryMode.PERSISTENT)
        await channel.default_exchange.publish(message, routing_key="kept")
        rabbit.kill()
    assert not rabbit.alive
    rabbit.start_again()
    async with await aio_pika.connect(amqp_url) as connection:
        channel = await connection.channel()
        queue = await channel.declare_queue("kept", durable=True, arguments={"x-queue-type": "quorum"})
        kept = await queue.get(timeout=10)
        assert kept is not None and kept.body == b"confirmed"


@pytest.mark.skipif(find_rabbitmq() is None, reason="needs RabbitMQ's binaries")
def test_node_and_port_mapper_end_with_a_killed_owner(home: Path) -> None:
    """Even SIGKILL of the tests leaves no broker and no epmd behind."""
    owner = subprocess.Popen([sys.executable, "-c", OWNER, str(home)], stdout=subprocess.PIPE, text=True)
    assert owner.stdout is not None
    with owner.stdout:
        port, mapper_port = (int(word) for word in owner.stdout.readline().split())
    assert greets(port) and not is_free(mapper_port)
    owner.kill()
    owner.wait()
    wait_until(lambda: is_free(port) and is_free(mapper_port))
