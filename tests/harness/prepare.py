"""`make test` runs this first: finds the real servers, or says in one sentence what is missing."""

import os
import sys

from shared.servers.postgres_binaries import find_postgres
from shared.servers.problem import ServerProblem
from tests.harness.browser import MISSING, install_chromium
from tests.harness.containers import docker_answers
from tests.harness.debian_package import find_binary, find_libfaketime, install
from tests.harness.pgbouncer import find_pgbouncer
from tests.harness.rabbitmq import find_rabbitmq, install_if_debian_root

DOCKER = "Docker, through testcontainers"


def main() -> int:
    try:
        sys.stdout.write(f"Postgres: {postgres()}\nRabbitMQ: {rabbitmq()}\n")
        sys.stdout.write(f"Chromium: {install_chromium() or MISSING}\n")
        sys.stdout.write(f"PgBouncer: {pgbouncer()}\n")
        sys.stdout.write(f"Valkey or Redis: {optional('redis-server', 'valkey-server', 'redis-server')}\n")
        sys.stdout.write(f"libfaketime: {libfaketime()}\n")
    except ServerProblem as problem:
        sys.stderr.write(f"{problem}\n")
        return 1
    return 0


def postgres() -> str:
    if os.environ.get("STUDIO_DATABASE_URL"):
        return "the one in STUDIO_DATABASE_URL"
    found = find_postgres()
    if os.environ.get("STUDIO_TEST_SERVERS") != "docker" and found is not None:
        return found.origin
    return DOCKER


def rabbitmq() -> str:
    if os.environ.get("STUDIO_TEST_SERVERS") == "docker":
        return DOCKER
    found = find_rabbitmq()
    if found is None and docker_answers():
        return DOCKER
    return (found or install_if_debian_root()).origin


def pgbouncer() -> str:
    command = find_pgbouncer()
    return optional("pgbouncer", "pgbouncer") if command is None else command[-1]


def libfaketime() -> str:
    """Without it, `make chaos` leaves out clocks that step."""
    if find_libfaketime() is None:
        install("libfaketime")
    return str(find_libfaketime() or "none here; clocks are not stepped")


def optional(package: str, *binaries: str) -> str:
    """Without it, the tests that need it are skipped."""
    if find_binary(*binaries) is None:
        install(package)
    return find_binary(*binaries) or "none here; its tests are skipped"


if __name__ == "__main__":
    sys.exit(main())
