"""structlog: JSON lines in production, readable on a terminal. Never a key, secret, body or email."""

import logging
import sys
from collections.abc import MutableMapping
from typing import Any

import msgspec
import structlog

from shared.observability.log_file import LogFile
from shared.observability.request_log import set_up_request_log
from shared.observability.scrubbing import PRIVATE, safe_traceback, scrub
from shared.settings import Settings

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
    set_up_request_log(sink, as_json=as_json, enabled=level <= logging.INFO)
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
