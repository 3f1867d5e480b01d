"""The way of a newcomer: clone, `make up`, every line of the first screen and the README, stop, start again.

In bash; and with an empty home again in zsh, where there is one.

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
from tests.harness.process import Process
from tests.harness.readme import first_screen_lines, follow_readme, run_in, shells

ROOT = Path(__file__).resolve().parent.parent.parent
FIRST_START_SECONDS = 180.0
SECOND_START_SECONDS = 5.0
# What a shell needs to find python, git, make and the registry; nothing that a developer exported.
KEPT = (
    *("PATH", "LANG", "PIP_CERT", "PIP_INDEX_URL"),
    *("SSL_CERT_FILE", "UV_INDEX_URL", "http_proxy", "https_proxy"),
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
        for shell in shells()[1:]:
            shutil.rmtree(clone / ".studio")
            _, lines = start_and_stop(clone, environment, FIRST_START_SECONDS, follow=True, shell=shell)
            say(f"the same lines in {shell}: {lines:.1f} s")
        if shells() == ["bash"]:
            say("zsh is not installed: the lines were only looked through for what it reads differently")
        second, _ = start_and_stop(clone, environment, SECOND_START_SECONDS)
        say(f"second start: ready after {second:.1f} s (at most {SECOND_START_SECONDS:.0f})")
        return 0 if first <= FIRST_START_SECONDS and second <= SECOND_START_SECONDS else 1
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def start_and_stop(
    clone: Path, environment: dict[str, str], limit: float, *, follow: bool = False, shell: str = "bash"
) -> tuple[float, float]:
    """Seconds until ready, and of the README's lines. Ctrl-C must end everything within seconds."""
    port, operator_port = free_port(), free_port()
    log = clone.parent / "up.log"
    log.unlink(missing_ok=True)
    up = Process((), environment, f"http://127.0.0.1:{port}/health/ready", log, clone)
    up.words = ["make", "up", f"ARGS=--port {port} --operator-port {operator_port}"]
    started = time.monotonic()
    up.start(new_session=True)  # so that Ctrl-C reaches make and what it has started
    assert up.child is not None
    try:
        up.wait_ready(limit + 120)
        seconds = time.monotonic() - started
        up.wait_for_text("\nspk_live_", 60)
        key = next(line for line in log.read_text().splitlines() if line.startswith("spk_live_"))
        request = urllib.request.Request(
            f"http://127.0.0.1:{port}/partner/v1/classes?limit=1", headers={"X-Service-Key": key}
        )
        with urllib.request.urlopen(request, timeout=10) as response:
            assert json.load(response)["data"], "the demo studio has no classes"
        up.wait_for_text("Ctrl-C stops everything", 60)
        lines = 0.0
        if follow:
            run_in(shell, "\n".join(first_screen_lines(log.read_text())), clone, environment)
            lines = follow_readme(clone, port, environment, shell)
    finally:
        os.killpg(up.child.pid, signal.SIGINT)
        up.child.wait(30)
    return seconds, lines


def say(text: str) -> None:
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
