"""structlog: JSON lines in production, readable on a terminal. Never a key, secret, body or email."""

import logging
import sys
from collections.abc import MutableMapping
from typing import Any

import msgspec
import structlog

from shared.settings import Settings

# A field with one of these words in its name is never written, whoever logs it.
PRIVATE = (
    "secret",
    "password",
    "token",
    "authorization",
    "email",
    "phone",
    "pepper",
    "service_key",
    "signature",
)


def redact(_: Any, __: str, event: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
    for name in event:
        if any(word in name for word in PRIVATE):
            event[name] = "[redacted]"
    return event


def set_up_logging(settings: Settings, service: str) -> None:
    level = logging.getLevelNamesMapping().get(settings.log_level.upper(), logging.INFO)
    as_json = settings.log_format == "json" or (settings.log_format == "auto" and not sys.stderr.isatty())
    processors: list[Any] = [
        structlog.contextvars.merge_contextvars,
        structlog.processors.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        redact,
    ]
    if as_json:
        processors += [
            structlog.processors.EventRenamer("event"),
            structlog.processors.format_exc_info,
            _add_service(service),
            _render_json,
        ]
    else:
        processors.append(structlog.dev.ConsoleRenderer())
    structlog.configure(
        processors=processors,
        wrapper_class=structlog.make_filtering_bound_logger(level),
        logger_factory=structlog.WriteLoggerFactory(file=sys.stderr),
        cache_logger_on_first_use=True,
    )
    logging.basicConfig(level=logging.WARNING, stream=sys.stderr, format="%(levelname)s %(name)s %(message)s")


def _add_service(service: str) -> Any:
    def add(_: Any, __: str, event: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
        event.setdefault("service", service)
        return event

    return add


_encoder = msgspec.json.Encoder(enc_hook=str)


def _render_json(_: Any, __: str, event: MutableMapping[str, Any]) -> str:
    return _encoder.encode(dict(event)).decode()
