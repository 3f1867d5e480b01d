"""Finds wrk, nginx and pgbench, or installs them where one command can."""

import os
import shutil
import subprocess
import sys
import venv
from pathlib import Path

from msgspec import Struct

from bench.children import ROOT
from bench.problem import BenchProblem
from shared.servers.postgres import find_postgres

PACKAGES = {"wrk": "wrk", "nginx": "nginx-light", "pgbench": "postgresql-client"}
LOCK = ROOT / "bench" / "requirements.lock"
PEERS = Path(sys.prefix) / "bench-peers"


class Tools(Struct, frozen=True):
    wrk: str
    nginx: str
    pgbench: str
    peers_python: str


def have_tools(*, peers: bool = True) -> Tools:
    """`peers` adds the packages of the typical stack, which comparisons of our own commits do not need."""
    found = {name: _find(name) for name in PACKAGES}
    missing = [name for name, path in found.items() if path is None]
    if missing:
        _install(missing)
        found = {name: _find(name) for name in PACKAGES}
    if absent := [name for name, path in found.items() if path is None]:
        raise BenchProblem(
            f"The bench needs {' and '.join(absent)}; on Debian or Ubuntu: "
            f"apt-get install {' '.join(PACKAGES[name] for name in absent)}"
        )
    return Tools(**{name: str(path) for name, path in found.items()}, peers_python=_peers() if peers else "")


def _find(name: str) -> str | None:
    if path := shutil.which(name) or shutil.which(name, path="/usr/sbin:/usr/local/sbin"):
        return path
    postgres = find_postgres() if name == "pgbench" else None
    pgbench = postgres.folder / "pgbench" if postgres else None
    return str(pgbench) if pgbench and pgbench.exists() else None


def _install(names: list[str]) -> None:
    if os.geteuid() != 0 or shutil.which("apt-get") is None:
        return
    packages = [PACKAGES[name] for name in names]
    print(f"Installing {', '.join(packages)} …", file=sys.stderr)
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    for words in (["update"], ["install", "-y", "--no-install-recommends", *packages]):
        subprocess.run(["apt-get", "-qq", *words], env=environment, stdout=subprocess.DEVNULL, check=False)


def _peers() -> str:
    """The typical stack has its own virtualenv, which later runs reuse while its lock file is unchanged."""
    python = PEERS / "bin" / "python"
    mark = PEERS / "installed"
    if mark.exists() and mark.read_bytes() == LOCK.read_bytes():
        return str(python)
    print("Installing the peers …", file=sys.stderr)
    uv = shutil.which("uv") or shutil.which("uv", path=str(Path(sys.executable).parent))
    venv.create(PEERS, clear=True, with_pip=uv is None)
    installer = (
        [uv, "pip", "install", "--python", str(python)] if uv else [str(python), "-m", "pip", "install"]
    )
    done = subprocess.run([*installer, "--quiet", "--require-hashes", "-r", str(LOCK)], check=False)
    if done.returncode != 0:
        raise BenchProblem("The peers could not be installed from bench/requirements.lock.")
    shutil.copyfile(LOCK, mark)
    return str(python)
