"""One log line per request, bypassing structlog: the same fields and format for a fifth of the cost.

Through structlog's chain of processors this line alone was a third of a gateway's own time. Its fields are
fixed and hold nothing private, so only the text is scrubbed. On a terminal structlog is used as usual.
"""

import sys
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Protocol

import msgspec
import structlog
from msgspec import Struct

from shared.observability.scrubbing import scrub


class RequestLine(Struct, kw_only=True):
    method: str
    route: str | None
    status: int
    ms: float
    request_id: str
    trace_id: str | None
    studio_id: str | None
    client_id: str | None
    key_id: str | None
    event: str = "request"
    level: str = "info"
    service: str
    timestamp: datetime | None = None


class Sink(Protocol):
    def write(self, text: str, /) -> int: ...

    def flush(self) -> None: ...


_encoder = msgspec.json.Encoder()


def _as_json(line: RequestLine) -> None:
    line.timestamp = datetime.now(UTC)
    # One write per line: nothing is lost when the process is killed.
    _sink.write(scrub(_encoder.encode(line).decode()) + "\n")
    _sink.flush()


def _through_structlog(line: RequestLine) -> None:
    fields = msgspec.structs.asdict(line)
    for name in ("level", "timestamp"):
        fields.pop(name)
    structlog.get_logger("request").info(fields.pop("event"), **fields)


def _discard(line: RequestLine) -> None:
    """The log level excludes these lines."""


_sink: Sink = sys.stderr
_write: Callable[[RequestLine], None] = _through_structlog


def set_up_request_log(sink: Sink, *, as_json: bool, enabled: bool) -> None:
    global _sink, _write
    _sink = sink
    _write = _discard if not enabled else _as_json if as_json else _through_structlog


def log_request(line: RequestLine) -> None:
    _write(line)
