"""A partner in Python, for the few requests that are not load: endpoints, single bookings, receipts."""

import json
import threading
import time
import urllib.request
from datetime import datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from bench.problem import BenchProblem


def post(url: str, key: str, body: dict[str, Any], **headers: str) -> dict[str, Any]:
    request = urllib.request.Request(url, json.dumps(body).encode(), method="POST")
    for name, value in {"X-Service-Key": key, "Content-Type": "application/json", **headers}.items():
        request.add_header(name, value)
    with urllib.request.urlopen(request, timeout=10) as response:
        made: dict[str, Any] = json.loads(response.read())
        return made


def entity_tag(url: str, key: str) -> str:
    request = urllib.request.Request(url, headers={"X-Service-Key": key})
    with urllib.request.urlopen(request, timeout=10) as response:
        return str(response.headers["ETag"])


class Receiver:
    """Records how long after its commit each event arrived.

    `created_at` is read under the class's lock, before the commit, so the times are slightly too long.
    """

    def __init__(self) -> None:
        self.delays_ms: list[float] = []
        self.created: dict[str, float] = {}
        receiver = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                arrived = time.time()
                event = json.loads(self.rfile.read(int(self.headers["content-length"])))
                made = datetime.fromisoformat(event["created_at"]).timestamp()
                receiver.created[event["id"]] = made
                receiver.delays_ms.append((arrived - made) * 1000)
                self.send_response(200)
                self.send_header("content-length", "0")
                self.end_headers()

            def log_message(self, format: str, *args: Any) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_port}/hook"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def wait_for(self, count: int) -> None:
        deadline = time.monotonic() + 10
        while len(self.delays_ms) < count:
            if time.monotonic() > deadline:
                raise BenchProblem(f"{len(self.delays_ms)} of {count} events were received in 10 s")
            time.sleep(0.002)

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()
