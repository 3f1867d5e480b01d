"""Traces: no cost while nobody collects them, one tree across services when somebody does."""

import subprocess
import sys

import pytest

from shared.observability.tracing import begin, in_span, trace_id_of, valid_traceparent

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


def test_without_an_endpoint_opentelemetry_is_never_loaded() -> None:
    """It would cost every start half a second."""
    code = (
        "import sys; from shared.observability.tracing import set_up_tracing;"
        "from shared.settings import Settings;"
        "import services.gateway.app, services.all_in_one; set_up_tracing(Settings(), 'gateway');"
        "sys.exit(any(name.startswith('opentelemetry') for name in sys.modules))"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
