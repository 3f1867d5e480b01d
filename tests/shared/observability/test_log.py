"""Nothing private leaves through the logs, whoever wrote the text. The lines of requests, and traces."""

import json
import logging
import sys
from collections.abc import Iterator
from typing import Any

import asyncpg
import pytest
import structlog

from shared.observability.log import RequestLine, log_line, set_up_lines, set_up_logging
from shared.observability.scrubbing import safe_message, safe_traceback, scrub
from shared.observability.tracing import begin, in_span, trace_id_of, valid_traceparent
from shared.settings import Settings


@pytest.fixture(autouse=True)
def _logging_restored() -> Iterator[None]:
    """Logging is global to the process, so each test here leaves it as it was."""
    handlers, level = logging.root.handlers[:], logging.root.level
    yield
    logging.root.handlers[:] = handlers
    logging.root.setLevel(level)
    structlog.reset_defaults()
    set_up_lines(sys.stderr.buffer, as_json=False, enabled=True)


def said(capsys: pytest.CaptureFixture[str]) -> list[dict[str, Any]]:
    return [json.loads(line) for line in capsys.readouterr().err.splitlines()]


def test_fields_with_a_private_name_are_never_written(capsys: pytest.CaptureFixture[str]) -> None:
    """Filtered by field name, so that no caller has to remember."""
    set_up_logging(Settings(log_format="json"), "forms")
    structlog.get_logger("fresh").info("lead", lead_email="ada", api_token="t", id="1")
    [line] = said(capsys)
    assert line["lead_email"] == line["api_token"] == "[redacted]"
    assert (line["service"], line["event"], line["id"]) == ("forms", "lead", "1")


@pytest.mark.parametrize(
    ("text", "clean"),
    [
        ("to ada@example.com now", "to [email] now"),
        ("amqp://studio:s3cret@broker:5672/", "amqp://[login]@broker:5672/"),
        ("key spk_live_abcDEF123_xyz used", "key [secret] used"),
        ("whsec_vzp/QbbbtDFD+=", "[secret]"),
        ("opt_0123456789abcdef", "[secret]"),
        ("'ada@example.com'bob@example.com, a@b@c.example", "[email], a@[email]"),
        ("nothing to hide", "nothing to hide"),
    ],
)
def test_emails_logins_keys_and_secrets_are_scrubbed_from_any_text(text: str, clean: str) -> None:
    """A second line of defence: no code should log them in the first place."""
    assert scrub(text) == clean


def test_an_exceptions_text_keeps_identifiers_and_loses_values() -> None:
    """Postgres puts what a member typed into DETAIL, asyncpg into the message itself."""
    unique = asyncpg.UniqueViolationError('duplicate key value violates unique constraint "leads_email_key"')
    unique.detail = "Key (email)=(ada@example.com) already exists."
    assert safe_message(unique) == 'duplicate key value violates unique constraint "leads_email_key"'
    value = ValueError("invalid input for query argument $1: 'Ada Byron' (expected int)\nDETAIL: Ada")
    assert safe_message(value) == "invalid input for query argument $1: '…' (expected int)"


def test_a_traceback_has_frames_and_kinds_and_no_values(capsys: pytest.CaptureFixture[str]) -> None:
    """Enough to find the code, without personal data."""
    set_up_logging(Settings(log_format="json"), "forms")
    try:
        try:
            raise KeyError("ada@example.com")
        except KeyError as problem:
            raise RuntimeError("no lead 'Ada Byron'") from problem
    except RuntimeError as problem:
        assert "RuntimeError: no lead '…'" in safe_traceback(problem)
        structlog.get_logger("failing").error("failed", exc_info=True)
    [line] = said(capsys)
    assert "test_log.py" in line["exception"] and "KeyError" in line["exception"]
    assert "Ada" not in line["exception"] and "ada@" not in line["exception"]


def test_log_lines_of_libraries_have_the_same_format(capsys: pytest.CaptureFixture[str]) -> None:
    """One JSON line each, scrubbed as well."""
    set_up_logging(Settings(log_format="json"), "webhooks")
    logging.getLogger("aio_pika").warning("lost amqp://studio:s3cret@broker/")
    [line] = said(capsys)
    assert line["logger"] == "aio_pika" and line["message"] == "lost amqp://[login]@broker/"


def test_the_line_of_a_request_is_json_with_every_field(capsys: pytest.CaptureFixture[str]) -> None:
    """The request id is the only one whose text a partner chooses. At `warning` the line is not written."""
    fields: dict[str, Any] = {"service": "bookings", "method": "GET", "route": "/classes", "status": 200}
    fields |= {"ms": 1.25, "trace_id": None, "studio_id": "s", "client_id": "c", "key_id": None}
    line = RequestLine(request_id="ada@example.com", **fields)
    set_up_logging(Settings(log_format="json"), "bookings")
    log_line(line)
    [written] = said(capsys)
    assert written.pop("timestamp").endswith("Z")
    assert written == {"event": "request", "level": "info", "request_id": "[email]"} | fields
    set_up_logging(Settings(log_format="json", log_level="warning"), "bookings")
    log_line(line)
    assert said(capsys) == []


GOOD = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"


@pytest.mark.parametrize(
    "text",
    [
        "",
        GOOD[:-1],
        GOOD + "\r\nx: y",
        GOOD.upper(),
        "01" + GOOD[2:],
        "00-" + "0" * 32 + "-b7ad6b7169203331-01",
        "00-0af7651916cd43dd8448eb211c80319c-" + "0" * 16 + "-01",
    ],
)
def test_only_a_valid_traceparent_is_accepted(text: str) -> None:
    """It is passed on in headers, rows and messages."""
    assert valid_traceparent(text) is None
    assert valid_traceparent(GOOD) == GOOD


def test_without_a_collector_the_partners_trace_is_passed_on_unchanged() -> None:
    """Its id is in our logs all the same."""
    assert begin("work", GOOD) is None
    with in_span("work", GOOD, "producer") as traceparent:
        assert traceparent == GOOD
    assert trace_id_of(GOOD) == "0af7651916cd43dd8448eb211c80319c" and trace_id_of(None) is None
