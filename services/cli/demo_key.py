"""The demo studio, loaded through the regular import, and its key, stored for later starts of `up`."""

import io
import json
from datetime import UTC, datetime
from typing import Any

from services.cli.command import CommandFailed
from services.cli.demo import STUDIO_ID, demo_lines
from services.cli.import_file import import_stream
from services.cli.operator_client import OperatorClient
from services.cli.output import step
from services.cli.secrets import write_private
from shared.settings import Settings
from shared.wire import encode, now

DEMO_KEY = "demo_key.json"


def load_demo(client: OperatorClient, *, progress: bool = True) -> dict[str, Any]:
    file = io.BytesIO(b"".join(encode(line) + b"\n" for line in demo_lines(datetime.now(UTC).date())))
    size = file.getbuffer().nbytes
    report = import_stream(client, file, None, size=size, progress=progress, send_events=False)
    if report["rejected_count"]:
        raise CommandFailed(f"The demo studio was not loaded completely: {report['rejected'][0]['reason']}")
    return report


def demo_key(settings: Settings, operator_url: str) -> str:
    """The demo studio's key, created with the studio on the first start and stored for later ones."""
    client = OperatorClient(operator_url, settings.operator_tokens[0])
    path = settings.home / DEMO_KEY
    known = {studio["id"] for studio in client.get("/studios")["data"]}
    if STUDIO_ID not in known or not path.exists():
        # If no key is stored, an earlier start was interrupted while loading. Loading again does no harm.
        with step("Loading the demo studio"):
            load_demo(client, progress=False)
    if path.exists():
        kept: dict[str, str] = json.loads(path.read_text())
        key = next((key for key in client.get("/keys")["data"] if key["id"] == kept["id"]), None)
        if key is not None and _is_live(key):
            return kept["key"]
    issued = client.post("/keys", {"studio": STUDIO_ID, "name": "demo", "scopes": ["all"]})
    write_private(path, json.dumps({"id": issued["id"], "key": issued["key"]}) + "\n")
    return str(issued["key"])


def demo_console(settings: Settings, operator_url: str) -> str:
    """A link into the demo client's console."""
    client = OperatorClient(operator_url, settings.operator_tokens[0])
    kept: dict[str, str] = json.loads((settings.home / DEMO_KEY).read_text())
    key = client.get(f"/keys/{kept['id']}")
    return str(client.post(f"/clients/{key['client_id']}/console-sessions")["url"])


def _is_live(key: dict[str, Any]) -> bool:
    expires = key["expires_at"]
    return key["revoked_at"] is None and (expires is None or datetime.fromisoformat(expires) > now())
