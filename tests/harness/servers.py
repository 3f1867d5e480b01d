"""The real servers that tests run on: one Postgres and one RabbitMQ per pytest worker.

Sources in order: STUDIO_DATABASE_URL, binaries, Docker. `STUDIO_TEST_SERVERS=docker` forces Docker.
"""

import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar
from urllib.parse import urlsplit

import pytest

from shared.servers.postgres import EmbeddedPostgres, find_postgres
from shared.servers.problem import ServerProblem
from tests.harness.containers import ContainerPostgres, ContainerRabbit, docker_answers
from tests.harness.rabbitmq import NOT_FOUND, PrivateRabbit, find_rabbitmq


class GivenPostgres:
    """A server given by URL. We only touch databases that we created."""

    origin = "STUDIO_DATABASE_URL"

    def __init__(self, url: str) -> None:
        self._parts = urlsplit(url)

    def url_of(self, database: str) -> str:
        # "postgres" means the database in the URL. We only connect to it.
        path = self._parts.path if database == "postgres" else f"/{database}"
        return self._parts._replace(path=path).geturl()

    def stop(self) -> None:
        pass


Postgres = EmbeddedPostgres | ContainerPostgres | GivenPostgres
Rabbit = PrivateRabbit | ContainerRabbit
Server = TypeVar("Server", Postgres, Rabbit)


@contextmanager
def running(choose: Callable[[Path], Server]) -> Iterator[Server]:
    """A server in a folder of its own. If there is none, the tests fail with one sentence."""
    with home_for_servers() as home:
        try:
            server = choose(home)
        except ServerProblem as problem:
            raise pytest.fail.Exception(str(problem), pytrace=False) from None
        try:
            yield server
        finally:
            server.stop()


def choose_postgres(home: Path) -> Postgres:
    if url := os.environ.get("STUDIO_DATABASE_URL"):
        return GivenPostgres(url)
    if not _docker_is_forced() and find_postgres():
        return EmbeddedPostgres.start(home, durable=False)
    if docker_answers():
        return ContainerPostgres()
    raise ServerProblem(
        "Postgres was not found; install postgresql, start Docker or set STUDIO_DATABASE_URL."
    )


def choose_rabbit(home: Path) -> Rabbit:
    if not _docker_is_forced() and find_rabbitmq():
        return PrivateRabbit.start(home)
    if docker_answers():
        return ContainerRabbit()
    raise ServerProblem(NOT_FOUND)


def _docker_is_forced() -> bool:
    return os.environ.get("STUDIO_TEST_SERVERS") == "docker"


MEMORY = Path("/dev/shm")
ENOUGH = 4 * 2**30


@contextmanager
def home_for_servers() -> Iterator[Path]:
    """Not pytest's own folder: when root runs the tests, the user of Postgres cannot enter it.

    In memory if there is room: every test copies a database, and disks made that a third of the suite's time.
    """
    in_memory = os.access(MEMORY, os.W_OK) and shutil.disk_usage(MEMORY).free > ENOUGH
    home = Path(tempfile.mkdtemp(prefix="studio-test-", dir=MEMORY if in_memory else None))
    home.chmod(0o711)
    try:
        yield home
    finally:
        shutil.rmtree(home, ignore_errors=True)
