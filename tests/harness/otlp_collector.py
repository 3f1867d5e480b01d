"""An OpenTelemetry collector for tests: receives spans over OTLP/HTTP and stores them."""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from msgspec import Struct
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest


class SeenSpan(Struct, frozen=True):
    service: str
    name: str
    trace_id: str
    id: str
    parent_id: str
    attributes: dict[str, str]


class Collector:
    def __init__(self) -> None:
        self.url = ""
        self.spans: list[SeenSpan] = []

    def take(self, body: bytes) -> None:
        for resource in ExportTraceServiceRequest.FromString(body).resource_spans:
            service = _texts(resource.resource.attributes)["service.name"]
            for scope in resource.scope_spans:
                self.spans += [_seen(service, span) for span in scope.spans]

    def until(self, fact: Callable[[list[SeenSpan]], bool], seconds: float = 30) -> list[SeenSpan]:
        deadline = time.monotonic() + seconds
        while not fact(list(self.spans)):
            assert time.monotonic() < deadline, self.spans[-20:]
            time.sleep(0.05)
        return list(self.spans)


@contextmanager
def collecting() -> Iterator[Collector]:
    collector = Collector()

    class Take(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            collector.take(self.rfile.read(int(self.headers["Content-Length"])))
            self.send_response(200)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *_: object) -> None:
            """Silenced."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Take)
    collector.url = f"http://127.0.0.1:{server.server_port}"
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield collector
    finally:
        server.shutdown()
        server.server_close()


def _seen(service: str, span: Any) -> SeenSpan:
    ids = (span.trace_id.hex(), span.span_id.hex(), span.parent_span_id.hex())
    return SeenSpan(service, span.name, *ids, _texts(span.attributes))


def _texts(attributes: Any) -> dict[str, str]:
    return {item.key: item.value.string_value or str(item.value.int_value) for item in attributes}
