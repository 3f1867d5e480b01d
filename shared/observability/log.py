"""structlog: JSON lines in production, readable on a terminal. Never a key, secret, body or email.

The lines of which there is one for each request, event or attempt bypass structlog: the same fields and
format for a tenth of the cost. Through its chain of processors this line alone was a third of a gateway's own
time. Its fields are fixed and hold nothing private, so only the texts that others choose are scrubbed.
"""

import asyncio
import atexit
import logging
import sys
from collections.abc import Callable, MutableMapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final, Protocol

import msgspec
import structlog
from msgspec import Struct

from shared.observability.scrubbing import PRIVATE, safe_traceback, scrub
from shared.settings import Settings

# A log file of bounded size, for `studioctl up` on a terminal: the screen stays readable.
LIMIT: Final = 20_000_000


# A killed process loses the lines of this time.
WRITE_SECONDS: Final = 0.005


class LogFile:
    """Appended line by line. Over the limit it is renamed to `.1`, and a new file begins."""

    def __init__(self, path: Path, limit: int = LIMIT) -> None:
        self.path = path
        self._limit = limit
        self._file = path.open("ab")
        self._size = path.stat().st_size

    def write(self, text: str | bytes) -> int:
        if self._size > self._limit:
            self._file.close()
            self.path.replace(self.path.with_name(self.path.name + ".1"))
            self._file = self.path.open("ab")
            self._size = 0
        self._size += len(text)
        return self._file.write(text.encode() if isinstance(text, str) else text)

    def flush(self) -> None:
        self._file.flush()


class Line(Struct, kw_only=True):
    """`request_id` was chosen by a caller, perhaps."""

    service: str
    request_id: str | None
    trace_id: str | None
    studio_id: str | None
    event: str
    level: str = "info"
    timestamp: datetime | None = None


class RequestLine(Line, kw_only=True):
    method: str
    route: str | None
    status: int
    ms: float
    client_id: str | None
    key_id: str | None
    event: str = "request"


class EventLine(Line, kw_only=True):
    event_id: str
    type: str


class Sink(Protocol):
    def write(self, line: bytes, /) -> int: ...

    def flush(self) -> None: ...


def _as_json(line: Line) -> None:
    """Lines of a few milliseconds are written together."""
    line.timestamp = datetime.now(UTC)
    # To search the whole line took half of the time.
    if line.request_id is not None:
        line.request_id = scrub(line.request_id)
    if isinstance(line, RequestLine) and line.client_id is not None:
        line.client_id = scrub(line.client_id)
    global _scheduled_in
    _waiting.append(line)
    try:
        loop = asyncio.get_running_loop()
    except RuntimeError:
        write_waiting()
        return
    if _scheduled_in is not loop:
        _scheduled_in = loop
        loop.call_later(WRITE_SECONDS, write_waiting)


def write_waiting() -> None:
    global _scheduled_in
    _scheduled_in = None
    if _waiting:
        lines = list(_waiting)
        _waiting.clear()
        _sink.write(_encoder.encode_lines(lines))
        _sink.flush()


def _through_structlog(line: Line) -> None:
    fields = msgspec.structs.asdict(line)
    for name in ("level", "timestamp"):
        fields.pop(name)
    structlog.get_logger("line").info(fields.pop("event"), **fields)


def _discard(line: Line) -> None:
    """The log level excludes these lines."""


_waiting: list[Line] = []
_scheduled_in: asyncio.AbstractEventLoop | None = None
_sink: Sink = sys.stderr.buffer
_write: Callable[[Line], None] = _through_structlog


def set_up_lines(sink: Sink, *, as_json: bool, enabled: bool) -> None:
    global _sink, _write
    write_waiting()
    _sink = sink
    _write = _discard if not enabled else _as_json if as_json else _through_structlog


atexit.register(write_waiting)


def log_line(line: Line) -> None:
    _write(line)


Event = MutableMapping[str, Any]


def redact(_: Any, __: str, event: Event) -> Event:
    for name in event:
        if any(word in name for word in PRIVATE):
            event[name] = "[redacted]"
    return event


def set_up_logging(settings: Settings, service: str, *, file: LogFile | None = None) -> None:
    """To standard error, readable on a terminal; as JSON lines elsewhere and in a `file`."""
    level = logging.getLevelNamesMapping().get(settings.log_level.upper(), logging.INFO)
    to_terminal = file is None and sys.stderr.isatty()
    as_json = settings.log_format == "json" or (settings.log_format == "auto" and not to_terminal)
    sink: Any = file or sys.stderr
    processors: list[Any] = [
        structlog.contextvars.merge_contextvars,
        structlog.processors.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        redact,
        _format_exception,
        _add_service(service),
        _render_json if as_json else _readable,
    ]
    structlog.configure(
        processors=processors,
        wrapper_class=structlog.make_filtering_bound_logger(level),
        logger_factory=structlog.WriteLoggerFactory(file=sink),
        cache_logger_on_first_use=True,
    )
    set_up_lines(file or sys.stderr.buffer, as_json=as_json, enabled=level <= logging.INFO)
    logging.basicConfig(level=logging.WARNING, handlers=[_ToStructlog()], force=True)


class _ToStructlog(logging.Handler):
    """Sends the log records of libraries through structlog, scrubbed like ours."""

    def emit(self, record: logging.LogRecord) -> None:
        structlog.get_logger("library").log(
            record.levelno,
            "library_message",
            logger=record.name,
            message=scrub(record.getMessage()),
            exc_info=record.exc_info or None,
        )


def _format_exception(_: Any, __: str, event: Event) -> Event:
    """Frames and types of an exception, and only those parts of its text that cannot hold personal data."""
    found = event.pop("exc_info", None)
    if found:
        problem = found if isinstance(found, BaseException) else sys.exc_info()[1]
        if isinstance(found, tuple):
            problem = found[1]
        if problem is not None:
            event["exception"] = safe_traceback(problem)
    return event


def _add_service(service: str) -> Any:
    def add(_: Any, __: str, event: Event) -> Event:
        event.setdefault("service", service)
        return event

    return add


_encoder = msgspec.json.Encoder(enc_hook=str)
_console = structlog.dev.ConsoleRenderer()


def _render_json(_: Any, __: str, event: Event) -> str:
    return scrub(_encoder.encode(dict(event)).decode())


def _readable(logger: Any, name: str, event: Event) -> str:
    return scrub(_console(logger, name, event))
