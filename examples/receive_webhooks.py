"""Receives webhooks and prints each event whose signature holds. Standard library only.

    python3 examples/receive_webhooks.py endpoint.json [PORT]

`endpoint.json` is the answer to creating the endpoint: it holds the secret. docs/receiving-webhooks.md tells
what a receiver in production does besides: store first, drop repeats, find gaps.
"""

import base64
import hashlib
import hmac
import json
import sys
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

TOLERANCE_SECONDS = 300


def is_signed(secret: str, headers: dict[str, str], body: bytes) -> bool:
    """Standard Webhooks: HMAC-SHA-256 over id, timestamp and raw body. There may be several signatures."""
    event_id, timestamp = headers.get("webhook-id", ""), headers.get("webhook-timestamp", "")
    if not timestamp.isdigit() or abs(time.time() - int(timestamp)) > TOLERANCE_SECONDS:
        return False
    key = base64.b64decode(secret.removeprefix("whsec_"))
    digest = hmac.digest(key, f"{event_id}.{timestamp}.".encode() + body, hashlib.sha256)
    expected = f"v1,{base64.b64encode(digest).decode()}"
    given = headers.get("webhook-signature", "").split(" ")
    return any(hmac.compare_digest(expected, one) for one in given)


def receiver(secret: str) -> type[BaseHTTPRequestHandler]:
    class Receiver(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers.get("content-length", 0)))
            signed = is_signed(secret, {name.lower(): value for name, value in self.headers.items()}, body)
            self.send_response(204 if signed else 401)
            self.end_headers()
            if signed:
                event = json.loads(body)
                print(f"verified: {event['type']} {event['resource']['id']}", flush=True)
            else:
                print("refused: the signature does not hold", flush=True)

        def log_message(self, format: str, *args: object) -> None:
            """One line per event is enough."""

    return Receiver


if __name__ == "__main__":
    endpoint = json.loads(Path(sys.argv[1]).read_text())
    port = int(sys.argv[2]) if len(sys.argv) > 2 else 9000
    print(f"Waiting for events on http://127.0.0.1:{port}/", flush=True)
    ThreadingHTTPServer(("127.0.0.1", port), receiver(endpoint["secret"])).serve_forever()
