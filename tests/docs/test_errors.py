"""docs/errors.md: every status of the API is in its table, and its program retries what it says."""

import json
import os
import re
import subprocess
import sys
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from threading import Thread

from services.cli.openapi.document import document

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "errors.md").read_text()
(PROGRAM,) = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
CALL = """
try:
    print(call("POST", "/bookings", {"class_id": "x"}, "booking-0001"))
except urllib.error.HTTPError as refusal:
    print("refused", refusal.code)
"""


def test_every_status_is_explained() -> None:
    """No row is missing, and none is of a status that is never answered."""
    told = {
        status
        for methods in document()["paths"].values()
        for operation in methods.values()
        for status in operation["responses"]
        if status >= "400"
    }
    assert re.findall(r"^\| (\d{3}) \|", PAGE, re.MULTILINE) == sorted(told)


def answered(*statuses: int) -> tuple[str, list[str]]:
    """What the program prints when it is answered so, and the idempotency keys that it sent."""
    keys: list[str] = []

    class Api(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["content-length"]))
            status = statuses[len(keys)]
            keys.append(self.headers["Idempotency-Key"])
            self.send_response(status)
            if status in (429, 503):
                self.send_header("Retry-After", "0")
            self.end_headers()
            self.wfile.write(json.dumps({"object": "booking"}).encode())

        def log_message(self, format: str, *args: object) -> None:
            pass

    with HTTPServer(("127.0.0.1", 0), Api) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        address = f"http://127.0.0.1:{server.server_port}"
        done = subprocess.run(
            [sys.executable, "-c", PROGRAM + CALL],
            env=os.environ | {"STUDIO_URL": address, "STUDIO_KEY": "k"},
            capture_output=True,
            text=True,
            timeout=60,
        )
        server.shutdown()
    return done.stdout.strip() or done.stderr, keys


def test_the_program_retries_with_the_same_key() -> None:
    """After a 429 and a 503, as soon as `Retry-After` says."""
    shown, keys = answered(429, 503, 201)
    assert shown == "(201, {'object': 'booking'})"
    assert keys == ["booking-0001"] * 3


def test_the_program_does_not_repeat_what_was_refused() -> None:
    """A 409 stays one."""
    shown, keys = answered(409)
    assert shown == "refused 409"
    assert len(keys) == 1
