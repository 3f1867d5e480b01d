"""The README's own lines, from the first call to a verified webhook, run as a newcomer would."""

import re
import shutil
import subprocess
import time
from collections.abc import Mapping
from pathlib import Path

from shared.servers.ports import free_port

ROOT = Path(__file__).resolve().parents[2]
SECTIONS = ("Five minutes with curl", "Webhooks in three commands")
LINES = re.compile(r"```sh\n(.*?)```", re.DOTALL)


def section(title: str) -> str:
    """The shell commands of one section, in order."""
    text = (ROOT / "README.md").read_text()
    found = text.partition(f"\n## {title}\n")[2].partition("\n## ")[0]
    return "\n".join(LINES.findall(found))


def follow_readme(folder: Path, port: int, environment: Mapping[str, str]) -> float:
    """The seconds that the lines took, in the `folder` that contains `.studio/`, up to a verified webhook.

    Only the two port numbers differ from what is printed: several systems share a test machine.
    """
    hook = free_port()
    script = "\n".join(section(title) for title in SECTIONS)
    replaced = {"127.0.0.1:8080": f"127.0.0.1:{port}", "127.0.0.1:9000": f"127.0.0.1:{hook}"}
    # What the user would see on the screen goes to a file here.
    replaced["endpoint.json &"] = f"endpoint.json {hook} > seen.txt &"
    for printed, ours in replaced.items():
        assert printed in script
        script = script.replace(printed, ours)
    script += "\nfor _ in $(seq 100); do grep -q verified: seen.txt && break; sleep 0.1; done; kill %1\n"
    began = time.monotonic()
    done = subprocess.run(
        [shutil.which("bash") or "bash", "-mc", script],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        timeout=120,
    )
    shown = f"{done.stdout}\n{done.stderr}"
    for part in (
        '"object":"booking"',
        '"status":"confirmed"',
        '"type":"booking.created"',
        '"code":"validation_failed"',
        '"code":"missing_api_key"',
    ):
        assert part in done.stdout, f"{part} is missing in\n{shown}"
    assert "verified: webhook.test" in (folder / "seen.txt").read_text(), shown
    return time.monotonic() - began
