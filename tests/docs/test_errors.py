"""docs/errors.md: every status of the API is in its table, and its program retries what it says."""

import json
import os
import re
import subprocess
import sys
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from threading import Thread

import pytest

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


@pytest.mark.parametrize(
    ("statuses", "told"),
    [((429, 503, 201), "(201, {'object': 'booking'})"), ((409,), "refused 409")],
    ids=["retried", "refused"],
)
def test_the_program_retries_with_the_same_key_and_never_what_was_refused(
    statuses: tuple[int, ...], told: str
) -> None:
    """After a 429 and a 503, as soon as `Retry-After` says. A 409 stays one."""
    assert answered(*statuses) == (told, ["booking-0001"] * len(statuses))
