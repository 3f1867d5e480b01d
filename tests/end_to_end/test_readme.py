"""Follows the README exactly: `studioctl up`, then its commands, to a verified webhook."""

import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from shared.servers.ports import free_port
from tests.harness.system import ROOT, Process, environment_for

LINES = re.compile(r"```sh\n(.*?)```", re.DOTALL)


def section(title: str) -> str:
    """The shell commands of one section, in order."""
    text = (ROOT / "README.md").read_text()
    found = text.partition(f"\n## {title}\n")[2].partition("\n## ")[0]
    return "\n".join(LINES.findall(found))


@pytest.fixture
def newcomer(tmp_path: Path) -> Iterator[tuple[Path, int]]:
    """A folder as a checkout is after `make up`: `.studio/`, `examples/`, and the system running."""
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    port, home = free_port(), tmp_path / ".studio"
    environment = environment_for(home)
    for name in ("STUDIO_WEBHOOK_ALLOW_HTTP", "STUDIO_WEBHOOK_ALLOW_HOSTS"):
        environment.pop(name)
    words = ["up", "--port", str(port), "--operator-port", str(free_port())]
    up = Process(words, environment, f"http://127.0.0.1:{port}/health/ready", tmp_path / "up.log")
    up.start()
    try:
        up.wait_ready()
        deadline = time.monotonic() + 60
        while not (home / "demo_key.json").exists():
            assert time.monotonic() < deadline
            time.sleep(0.05)
        yield tmp_path, port
    finally:
        up.stop()


@pytest.mark.timeout(180)
def test_the_readme_leads_from_a_start_to_a_booking_and_a_verified_webhook(
    newcomer: tuple[Path, int],
) -> None:
    """Only the two port numbers are other than printed: several systems share a test machine."""
    folder, port = newcomer
    hook = free_port()
    script = section("Five minutes with curl") + "\n" + section("Webhooks in three commands")
    ports = {"127.0.0.1:8080": f"127.0.0.1:{port}", "127.0.0.1:9000": f"127.0.0.1:{hook}"}
    # What the person would watch on the screen goes to a file here.
    ports["endpoint.json &"] = f"endpoint.json {hook} > seen.txt &"
    for printed, ours in ports.items():
        assert printed in script
        script = script.replace(printed, ours)
    script += "\nfor _ in $(seq 100); do grep -q verified: seen.txt && break; sleep 0.1; done; kill %1\n"
    began = time.monotonic()
    done = subprocess.run(
        [shutil.which("bash") or "bash", "-mc", script],
        cwd=folder,
        env=os.environ | {"PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"},
        capture_output=True,
        text=True,
        timeout=120,
    )
    shown = f"{done.stdout}\n{done.stderr}"
    assert '"object":"booking"' in done.stdout, shown
    assert '"status":"confirmed"' in done.stdout, shown
    assert '"type":"booking.created"' in done.stdout, shown
    assert '"code":"validation_failed"' in done.stdout and '"code":"missing_api_key"' in done.stdout, shown
    assert "verified: webhook.test" in (folder / "seen.txt").read_text(), shown
    sys.stdout.write(f"the README's lines took {time.monotonic() - began:.1f} s\n")
