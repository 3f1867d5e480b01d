"""A partner's server inside compose: writes each delivery to its standard output, as one JSON line."""

import json
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class Receive(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        received = {"headers": {name.lower(): value for name, value in self.headers.items()}}
        sys.stdout.write(json.dumps(received | {"body": json.loads(body)}) + "\n")
        sys.stdout.flush()
        self.send_response(204)
        self.end_headers()

    def log_message(self, *_: object) -> None:
        """Only deliveries are written."""


if __name__ == "__main__":
    ThreadingHTTPServer(("0.0.0.0", 9000), Receive).serve_forever()
