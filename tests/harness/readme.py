"""Every line that the README and the first screen print, run as a newcomer would paste it."""

import re
import shutil
import subprocess
import time
from collections.abc import Mapping
from pathlib import Path

from shared.servers.ports import free_port

ROOT = Path(__file__).resolve().parents[2]
BLOCKS = re.compile(r"```sh\n(.*?)```", re.DOTALL)
# What has to be on the screen at the end.
SEEN = (
    '"object": "booking"',
    '"status": "confirmed"',
    '"type": "booking.created"',
    '"code": "validation_failed"',
    '"code": "missing_api_key"',
    '"object": "webhook_delivery"',
    '"imported": 17',
    '"slug": "mine"',
    "ava.bennett@example.com",
)
SHELLS = {"bash": ("-ec",), "zsh": ("-fec",)}


def shells() -> list[str]:
    return [shell for shell in SHELLS if shutil.which(shell)]


def readme_script() -> str:
    """All commands but `make up`, which is running."""
    blocks = BLOCKS.findall((ROOT / "README.md").read_text())
    assert blocks[0] == "make up\n"
    return "\n".join(blocks[1:])


def first_screen_lines(screen: str) -> list[str]:
    """What the first screen prints to be pasted."""
    lines = [line for line in screen.splitlines() if re.match(r"curl |\S*studioctl ", line)]
    assert len(lines) == 5, screen
    return lines


def run_in(shell: str, script: str, folder: Path, environment: Mapping[str, str]) -> str:
    """What it prints. An error fails: a line that fails, or words on stderr."""
    assert "#" not in script, "zsh takes # for a command where it is pasted"
    done = subprocess.run(
        [shutil.which(shell) or shell, *SHELLS[shell], f"set -o pipefail\n{script}"],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0 and not done.stderr, f"{shell}: {done.stdout}\n{done.stderr}"
    return done.stdout


def follow_readme(folder: Path, port: int, environment: Mapping[str, str], shell: str = "bash") -> float:
    """The seconds that the lines took, in the `folder` that contains `.studio/`, up to a verified webhook.

    Only the two port numbers differ from what is printed: several systems share a test machine.
    """
    hook, script = free_port(), readme_script()
    replaced = {"127.0.0.1:8080": f"127.0.0.1:{port}", "127.0.0.1:9000": f"127.0.0.1:{hook}"}
    # What the user would see on the screen goes to a file here.
    replaced["endpoint.json &"] = f"endpoint.json {hook} > seen.txt &"
    for printed, ours in replaced.items():
        assert printed in script
        script = script.replace(printed, ours)
    script += "\nfor _ in $(seq 100); do grep -q verified: seen.txt && break; sleep 0.1; done\nkill $!\n"
    began = time.monotonic()
    shown = run_in(shell, script, folder, environment)
    for part in SEEN:
        assert part in shown, f"{part} is missing in\n{shown}"
    assert "verified: webhook.test" in (folder / "seen.txt").read_text(), shown
    return time.monotonic() - began
