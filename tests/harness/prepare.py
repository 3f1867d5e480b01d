"""`make test` calls this first: have RabbitMQ, or say in one sentence what is missing."""

import os
import sys

from shared.servers.problem import ServerProblem
from shared.servers.rabbitmq_binaries import find_rabbitmq, install_if_debian_root
from tests.harness.containers import docker_answers


def main() -> int:
    if os.environ.get("STUDIO_AMQP_URL") or os.environ.get("STUDIO_TEST_SERVERS") == "docker":
        return 0
    if find_rabbitmq() is not None or docker_answers():
        return 0
    try:
        install_if_debian_root()
    except ServerProblem as problem:
        sys.stderr.write(f"{problem}\n")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
