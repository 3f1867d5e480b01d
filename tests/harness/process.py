"""A `studioctl` process with the settings that tests need."""

import os
import signal
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from shared.servers.ports import free_port
from tests.harness.database_layout import with_urls_of_service

ROOT = Path(__file__).resolve().parent.parent.parent
START_SECONDS = 120
# Deliveries in tests go to receivers on loopback, and retries must not take minutes.
TEST_SETTINGS = {
    "STUDIO_WEBHOOK_ALLOW_HTTP": "true",
    "STUDIO_WEBHOOK_ALLOW_HOSTS": "127.0.0.1,localhost",
    "STUDIO_WEBHOOK_RETRY_SCHEDULE": "0.1,0.2,0.3,0.4,0.5",
    "STUDIO_LOG_FORMAT": "json",
    # No replica takes over here, so draining is pointless. The rolling restart test sets its own value.
    "STUDIO_DRAIN_SECONDS": "0",
}


STUDIOCTL = (sys.executable, "-m", "services.cli.main")


class Process:
    """One `studioctl` process that can be killed and restarted with the same settings."""

    def __init__(
        self,
        words: Sequence[str],
        environment: Mapping[str, str],
        ready_url: str,
        log: Path,
        code: Path = ROOT,
    ) -> None:
        self.words = [*STUDIOCTL, *words]
        self.environment = with_urls_of_service(environment)
        self.ready_url = ready_url
        self.log = log
        self.code = code
        self.child: subprocess.Popen[bytes] | None = None

    def start(self, *, new_session: bool = False) -> None:
        with self.log.open("ab") as log:
            self.child = subprocess.Popen(
                self.words,
                env=self.environment,
                stdout=log,
                stderr=log,
                stdin=subprocess.DEVNULL,
                cwd=self.code,
                start_new_session=new_session,
            )

    def wait_ready(self, seconds: float = START_SECONDS) -> None:
        self.wait_for(self._is_ready, seconds)

    def _is_ready(self) -> bool:
        try:
            with urllib.request.urlopen(self.ready_url, timeout=1) as response:
                return bool(response.status == 200)
        except OSError:
            return False

    def wait_for_text(self, text: str, seconds: float = START_SECONDS) -> None:
        """What it prints once it is ready to be used, such as the demo studio's key."""
        self.wait_for(lambda: text in self.log.read_text(), seconds)

    def wait_for(self, fact: Callable[[], bool], seconds: float = START_SECONDS) -> None:
        deadline = time.monotonic() + seconds
        while not fact():
            assert self.child is not None
            if self.child.poll() is not None or time.monotonic() > deadline:
                raise AssertionError(f"{self.words[3:]} is not ready:\n{self.log.read_text()[-4000:]}")
            time.sleep(0.05)

    def kill(self) -> None:
        assert self.child is not None
        self.child.kill()
        self.child.wait()

    def stop(self) -> None:
        if self.child is None or self.child.poll() is not None:
            return
        self.child.send_signal(signal.SIGTERM)
        try:
            self.child.wait(30)
        except subprocess.TimeoutExpired:
            self.kill()


def serving(words: Sequence[str], environment: Mapping[str, str], folder: Path, port: int = 0) -> Process:
    """`studioctl serve`, on a free port unless one is given. Its log has the service's name and port."""
    port = port or free_port()
    ready_url = f"http://127.0.0.1:{port}/health/ready"
    settings = {**environment, "STUDIO_PORT": str(port)}
    return Process(["serve", *words], settings, ready_url, folder / f"{words[0]}-{port}.log")


def memory_mb(pid: int, what: str = "VmRSS") -> float:
    """What a process has in memory now, or with `VmHWM` the most that it has ever had."""
    status = Path(f"/proc/{pid}/status").read_text()
    return int(status.split(f"{what}:")[1].split()[0]) / 1024


def with_descendants(pid: int) -> list[int]:
    parents: dict[int, int] = {}
    for status in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            parents[int(status.parent.name)] = int(status.read_text().rpartition(")")[2].split()[1])
    found = [pid]
    for one in found:
        found += [child for child, parent in parents.items() if parent == one]
    return found


def environment_for(folder: Path, **more: str) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("STUDIO_")}
    settings = TEST_SETTINGS | {"STUDIO_HOME": str(folder), "PYTHONUNBUFFERED": "1"} | more
    return with_urls_of_service(kept | settings)
