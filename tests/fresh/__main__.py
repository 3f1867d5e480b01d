"""The way of a newcomer: clone, `make up`, the README's lines up to a verified webhook, stop, start again.

It uses nothing of this checkout except its commits.
"""

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path

from shared.servers.ports import free_port
from tests.harness.readme import follow_readme

ROOT = Path(__file__).resolve().parent.parent.parent
FIRST_START_SECONDS = 180.0
SECOND_START_SECONDS = 5.0
# What a shell needs to find python, git, make and the registry; nothing that a developer exported.
KEPT = (
    "PATH",
    "LANG",
    "PIP_CERT",
    "PIP_INDEX_URL",
    "SSL_CERT_FILE",
    "UV_INDEX_URL",
    "http_proxy",
    "https_proxy",
)


def main() -> int:
    folder = Path(tempfile.mkdtemp(prefix="studio-fresh-"))
    try:
        clone, home = folder / "clone", folder / "home"
        home.mkdir()
        subprocess.run(["git", "clone", "--quiet", str(ROOT), str(clone)], check=True)
        environment = {name: os.environ[name] for name in KEPT if name in os.environ} | {"HOME": str(home)}
        began = time.monotonic()
        first, lines = start_and_stop(clone, environment, FIRST_START_SECONDS, follow=True)
        say(f"first start, with installs: ready after {first:.1f} s (at most {FIRST_START_SECONDS:.0f})")
        say(f"the README's lines, up to a verified webhook: {lines:.1f} s")
        say(f"all of it, from an empty machine to Ctrl-C: {time.monotonic() - began:.1f} s")
        second, _ = start_and_stop(clone, environment, SECOND_START_SECONDS)
        say(f"second start: ready after {second:.1f} s (at most {SECOND_START_SECONDS:.0f})")
        return 0 if first <= FIRST_START_SECONDS and second <= SECOND_START_SECONDS else 1
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def start_and_stop(
    clone: Path, environment: dict[str, str], limit: float, *, follow: bool = False
) -> tuple[float, float]:
    """Seconds until ready, and of the README's lines. Ctrl-C must end everything within seconds."""
    port, operator_port = free_port(), free_port()
    words = ["make", "up", f"ARGS=--port {port} --operator-port {operator_port}"]
    started = time.monotonic()
    log = clone.parent / "up.log"
    with log.open("wb") as out:
        running = subprocess.Popen(
            words, cwd=clone, env=environment, stdout=out, stderr=out, start_new_session=True
        )
    try:
        until_ready(f"http://127.0.0.1:{port}/health/ready", running, log, limit + 120)
        seconds = time.monotonic() - started
        key = until_key(log)
        request = urllib.request.Request(
            f"http://127.0.0.1:{port}/partner/v1/classes?limit=1", headers={"X-Service-Key": key}
        )
        with urllib.request.urlopen(request, timeout=10) as response:
            assert json.load(response)["data"], "the demo studio has no classes"
        lines = follow_readme(clone, port, environment) if follow else 0.0
    finally:
        os.killpg(running.pid, signal.SIGINT)
        running.wait(30)
    return seconds, lines


def until_ready(url: str, running: "subprocess.Popen[bytes]", log: Path, limit: float) -> None:
    deadline = time.monotonic() + limit
    while time.monotonic() < deadline:
        if running.poll() is not None:
            raise SystemExit(f"make up ended:\n{log.read_text()[-4000:]}")
        try:
            with urllib.request.urlopen(url, timeout=1):
                return
        except OSError:
            time.sleep(0.05)
    raise SystemExit(f"not ready after {limit:.0f} s:\n{log.read_text()[-4000:]}")


def until_key(log: Path) -> str:
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        for line in log.read_text().splitlines():
            if line.startswith("spk_live_"):
                return line
        time.sleep(0.05)
    raise SystemExit(f"no key was printed:\n{log.read_text()[-4000:]}")


def say(text: str) -> None:
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
