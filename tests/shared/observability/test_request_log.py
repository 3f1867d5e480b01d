"""The log line of a request: fields as structlog would write them, and no personal data."""

import json

import pytest

from shared.observability.log import RequestLine, log_request, set_up_logging
from shared.settings import Settings


def line(**fields: str) -> RequestLine:
    known = {"method": "GET", "route": "/classes", "request_id": "r-1", "service": "bookings"} | fields
    return RequestLine(status=200, ms=1.25, trace_id=None, studio_id="s", client_id="c", key_id=None, **known)  # type: ignore[arg-type]


def test_a_line_is_json_with_every_field(capsys: pytest.CaptureFixture[str]) -> None:
    """One line on stderr."""
    set_up_logging(Settings(log_format="json"), "bookings")
    log_request(line())
    written = json.loads(capsys.readouterr().err)
    assert written.pop("timestamp").endswith("Z")
    assert written == {
        "event": "request",
        "level": "info",
        "service": "bookings",
        "method": "GET",
        "route": "/classes",
        "status": 200,
        "ms": 1.25,
        "request_id": "r-1",
        "trace_id": None,
        "studio_id": "s",
        "client_id": "c",
        "key_id": None,
    }


def test_a_request_id_that_is_an_email_is_not_written(capsys: pytest.CaptureFixture[str]) -> None:
    """It is the only field whose text a partner chooses."""
    set_up_logging(Settings(log_format="json"), "bookings")
    log_request(line(request_id="ada@example.com"))
    assert "ada" not in capsys.readouterr().err


def test_the_level_holds_for_requests_too(capsys: pytest.CaptureFixture[str]) -> None:
    """At `warning` a successful request is not logged."""
    set_up_logging(Settings(log_format="json", log_level="warning"), "bookings")
    log_request(line())
    assert capsys.readouterr().err == ""
