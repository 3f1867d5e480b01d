"""`python -m shared.servers.prepare`: says which servers the tests will use and installs what it may."""

import os
import sys

from shared.servers.postgres_binaries import find_postgres
from shared.servers.problem import ServerProblem
from shared.servers.rabbitmq_binaries import install_if_debian_root


def main() -> int:
    try:
        sys.stdout.write(f"Postgres: {postgres()}\nRabbitMQ: {rabbitmq()}\n")
    except ServerProblem as problem:
        sys.stderr.write(f"{problem.message}\n")
        return 1
    return 0


def postgres() -> str:
    if os.environ.get("STUDIO_DATABASE_URL"):
        return "the one in STUDIO_DATABASE_URL"
    found = find_postgres()
    return found.origin if found else "Docker, if it runs"


def rabbitmq() -> str:
    if os.environ.get("STUDIO_AMQP_URL"):
        return "the one in STUDIO_AMQP_URL"
    if os.environ.get("STUDIO_TEST_SERVERS") == "docker":
        return "Docker"
    return install_if_debian_root().origin


if __name__ == "__main__":
    sys.exit(main())
