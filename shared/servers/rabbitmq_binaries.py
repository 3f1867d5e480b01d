"""Finds RabbitMQ on this machine, and installs it where that is safe."""

import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

from msgspec import Struct

from shared.servers.problem import ServerProblem

# Debian's wrappers in /usr/sbin switch user and folder; these are the scripts that they call.
FOLDERS = (
    "/usr/lib/rabbitmq/bin",
    "/usr/lib/rabbitmq/lib/rabbitmq_server-*/sbin",
    "/opt/rabbitmq/sbin",
    "/opt/homebrew/opt/rabbitmq/sbin",
    "/usr/local/opt/rabbitmq/sbin",
)
EPMD = (
    "/usr/lib/erlang/erts-*/bin/epmd",
    "/usr/lib64/erlang/erts-*/bin/epmd",
    "/usr/local/lib/erlang/erts-*/bin/epmd",
)
HOW_TO_INSTALL = "install rabbitmq-server (apt-get, dnf or brew), start Docker, or set STUDIO_AMQP_URL"


class RabbitBinaries(Struct, frozen=True):
    folder: Path
    epmd: Path
    # The folder of `erl`, if it is not the one on the path.
    erlang: Path | None = None

    @property
    def server(self) -> str:
        return str(self.folder / "rabbitmq-server")

    @property
    def control(self) -> str:
        return str(self.folder / "rabbitmqctl")

    @property
    def path(self) -> str:
        path = os.environ.get("PATH", os.defpath)
        return f"{self.erlang}{os.pathsep}{path}" if self.erlang else path

    @property
    def origin(self) -> str:
        return f"RabbitMQ, this machine's own ({self.folder})"


def find_rabbitmq() -> RabbitBinaries | None:
    folders = (folder for folder in _matching(FOLDERS) if (folder / "rabbitmq-server").exists())
    folder = next(folders, None)
    on_path = shutil.which("epmd")
    epmd = Path(on_path) if on_path else next(_matching(EPMD), None)
    return RabbitBinaries(folder, epmd) if folder and epmd else None


def _matching(patterns: tuple[str, ...]) -> Iterator[Path]:
    for pattern in patterns:
        yield from sorted(Path("/").glob(pattern.lstrip("/")), reverse=True)


def install_if_debian_root() -> RabbitBinaries:
    """The binaries. As root on Debian or Ubuntu they are installed first if missing."""
    if found := find_rabbitmq():
        return found
    if os.geteuid() != 0 or not Path("/etc/debian_version").exists() or not shutil.which("apt-get"):
        raise ServerProblem(f"RabbitMQ was not found; {HOW_TO_INSTALL}.")
    env = os.environ | {"DEBIAN_FRONTEND": "noninteractive"}
    for command in ("update", "install -y --no-install-recommends rabbitmq-server"):
        done = subprocess.run(["apt-get", "-qq", *command.split()], env=env, capture_output=True, text=True)
        if done.returncode != 0:
            said = (done.stderr.strip() or done.stdout.strip() or "no reason given").splitlines()[-1]
            raise ServerProblem(f"apt-get could not install rabbitmq-server ({said}); {HOW_TO_INSTALL}.")
    if found := find_rabbitmq():
        return found
    raise ServerProblem(f"rabbitmq-server was installed but is not where it should be; {HOW_TO_INSTALL}.")
