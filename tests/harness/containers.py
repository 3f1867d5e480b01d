"""Servers in Docker, for machines with a daemon and no binaries; testcontainers is imported on use only."""

import base64
import secrets
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import asyncpg

from shared.servers.ports import free_port
from shared.servers.postgres import NOT_DURABLE, SETTINGS
from shared.servers.problem import ServerProblem
from tests.harness.eventually import run_in_thread
from tests.harness.rabbitmq import SETTLE, adding_vhosts, greets

if TYPE_CHECKING:
    from testcontainers.core.container import DockerContainer

POSTGRES_IMAGE = "postgres:17.11"
RABBITMQ_IMAGE = "rabbitmq:4.1.4"
START_SECONDS = 90.0
# Like the embedded server in tests, except for where it listens. The image's defaults allow half as many
# connections and wait for the disk at every commit.
POSTGRES_SETTINGS = {
    name: value
    for name, value in (SETTINGS | NOT_DURABLE).items()
    if name not in ("listen_addresses", "unix_socket_directories")
}


def docker_answers() -> bool:
    from testcontainers.core.docker_client import DockerClient

    try:
        return bool(DockerClient().client.ping())
    except Exception:  # any error means that the daemon cannot be used
        return False


class ContainerPostgres:
    def __init__(self) -> None:
        self.origin = f"Docker, {POSTGRES_IMAGE}"
        self._password = secrets.token_urlsafe(16)
        self._port = free_port()
        words = [word for setting in POSTGRES_SETTINGS.items() for word in ("-c", "=".join(setting))]
        command = ["postgres", *words]
        self._container = _started(
            POSTGRES_IMAGE, 5432, self._port, command, POSTGRES_PASSWORD=self._password
        )
        self._host = self._container.get_container_host_ip()
        _wait_for(self._answers, self._container)

    def url_of(self, database: str) -> str:
        return f"postgresql://postgres:{self._password}@{self._host}:{self._port}/{database}"

    def stop(self) -> None:
        self._container.stop()

    def _answers(self) -> bool:
        async def connect() -> None:
            connection: asyncpg.Connection[Any] = await asyncpg.connect(self.url_of("postgres"), timeout=2)
            await connection.close()

        try:
            run_in_thread(connect())
        except (OSError, TimeoutError, asyncpg.PostgresError):
            return False
        return True


class ContainerRabbit:
    def __init__(self) -> None:
        self.origin = f"Docker, {RABBITMQ_IMAGE}"
        login = {"RABBITMQ_DEFAULT_USER": "studio", "RABBITMQ_DEFAULT_PASS": "studio"}
        self._port = free_port()  # fixed, so that it stays the same after a restart
        self._container = _started(RABBITMQ_IMAGE, 5672, self._port, [], **login)
        self._host = self._container.get_container_host_ip()
        self.start_again()

    @property
    def url(self) -> str:
        return self.url_of("%2F")

    def url_of(self, vhost: str) -> str:
        return f"amqp://studio:studio@{self._host}:{self._port}/{vhost}"

    @property
    def alive(self) -> bool:
        return _runs(self._container)

    def start_again(self) -> None:
        if not self.alive:
            self._container.get_wrapped_container().start()
        _wait_for(lambda: greets(self._port, self._host), self._container)

    def kill(self) -> None:
        self._eval(SETTLE)
        docker = self._container.get_wrapped_container()
        docker.kill()
        docker.wait()

    def restart(self) -> None:
        self._container.get_wrapped_container().stop()
        self.start_again()

    def stop(self) -> None:
        self._container.stop()

    def add_vhosts(self, names: list[str]) -> None:
        self._eval(adding_vhosts(names, user="studio"))

    def import_definitions(self, definitions: bytes) -> None:
        file = "/tmp/definitions.json"  # inside the container
        text = base64.b64encode(definitions).decode()
        self._run("sh", "-c", f"echo {text} | base64 -d > {file} && rabbitmqctl import_definitions {file}")

    def _eval(self, expression: str) -> None:
        self._run("rabbitmqctl", "eval", expression)

    def _run(self, *command: str) -> None:
        done = self._container.exec(list(command))
        if done.exit_code != 0:
            raise ServerProblem(f"{command[-1]} failed: {done.output.decode(errors='replace')}")


def _started(
    image: str, inside: int, outside: int, command: list[str], **environment: str
) -> "DockerContainer":
    from testcontainers.core.container import DockerContainer

    container = DockerContainer(image, env=environment).with_bind_ports(inside, outside)
    if command:
        container = container.with_command(command)
    try:
        return container.start()
    except Exception as error:
        raise ServerProblem(f"Docker could not start {image}: {error}") from error


def _wait_for(fact: Callable[[], bool], container: "DockerContainer") -> None:
    deadline = time.monotonic() + START_SECONDS
    while not fact():
        if not _runs(container) or time.monotonic() > deadline:
            words = b"".join(container.get_logs()).decode(errors="replace").strip().splitlines()[-1:]
            container.stop()
            raise ServerProblem(f"The container of {container.image} did not come up: {''.join(words)}")
        time.sleep(0.1)


def _runs(container: "DockerContainer") -> bool:
    docker = container.get_wrapped_container()
    docker.reload()
    return bool(docker.status == "running")
