"""A private broker leaves nothing behind. That it survives a kill is tested with the bus on it."""

import subprocess
import sys
from pathlib import Path

import pytest

from shared.servers.ports import is_free
from tests.harness.rabbitmq import find_rabbitmq, greets
from tests.shared.servers.rows import wait_until

OWNER = """
import sys, time
from pathlib import Path
from tests.harness.rabbitmq import PrivateRabbit
rabbit = PrivateRabbit.start(Path(sys.argv[1]))
print(rabbit.port, rabbit.mapper_port, flush=True)
time.sleep(600)
"""


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
