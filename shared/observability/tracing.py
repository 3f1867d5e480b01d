"""OpenTelemetry over OTLP/HTTP if STUDIO_OTLP_ENDPOINT is set; otherwise one `is None` per request.

Context is passed explicitly as a W3C `traceparent` string: in the gateway's header, with the event in outbox
and broker, and with the logged event to its deliveries. Nothing here patches a library.
"""

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime
from typing import TYPE_CHECKING, Any, Literal

from shared.settings import Settings

if TYPE_CHECKING:
    from opentelemetry.sdk.trace.export import SpanExporter

Kind = Literal["server", "client", "producer", "consumer", "internal"]

_TRACEPARENT = re.compile(r"00-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}\Z")
_tracer: Any = None


def valid_traceparent(text: str | None) -> str | None:
    """The text itself, or None if it is not a traceparent: it may come from a client."""
    return text if text is not None and _TRACEPARENT.match(text) else None


def trace_id_of(traceparent: str | None) -> str | None:
    return traceparent[3:35] if traceparent else None


class Span:
    """One piece of work. Its `traceparent` makes others its children."""

    __slots__ = ("_span", "traceparent")

    def __init__(self, span: Any) -> None:
        context = span.get_span_context()
        self._span = span
        self.traceparent = f"00-{context.trace_id:032x}-{context.span_id:016x}-{int(context.trace_flags):02x}"

    def end(
        self, *, failed: bool = False, ended: int | None = None, **attributes: str | int | float | bool
    ) -> None:
        """`ended` is in nanoseconds, for work that ended before now."""
        if attributes:
            self._span.set_attributes({name.replace("__", "."): value for name, value in attributes.items()})
        if failed:
            from opentelemetry.trace import StatusCode

            self._span.set_status(StatusCode.ERROR)
        self._span.end(ended)


def begin(
    name: str,
    parent: str | None,
    kind: Kind = "internal",
    attributes: Mapping[str, Any] | None = None,
    *,
    began: int | None = None,
) -> Span | None:
    """None if tracing is off. Whoever gets a span must end it. `began` is in nanoseconds; now without it."""
    if _tracer is None:
        return None
    from opentelemetry.trace import SpanKind

    known = {name: value for name, value in (attributes or {}).items() if value is not None}
    kind_of_span = SpanKind[kind.upper()]
    return Span(_tracer.start_span(name, _context(parent), kind_of_span, known, start_time=began))


def record(
    name: str,
    parent: str | None,
    kind: Kind,
    start: datetime,
    attributes: Mapping[str, Any],
    *,
    seconds: float,
    failed: bool = False,
) -> None:
    """Records work that has already ended as one span."""
    began = int(start.timestamp() * 1e9)
    span = begin(name, parent, kind, attributes, began=began)
    if span is not None:
        span.end(failed=failed, ended=began + int(seconds * 1e9))


@contextmanager
def in_span(
    name: str, parent: str | None, kind: Kind, attributes: Mapping[str, Any] | None = None
) -> Iterator[str | None]:
    """Yields the traceparent to pass on: the span's own, or the parent's if tracing is off."""
    span = begin(name, parent, kind, attributes)
    if span is None:
        yield parent
        return
    try:
        yield span.traceparent
    except BaseException:
        span.end(failed=True)
        raise
    span.end()


def set_up_tracing(settings: Settings, service: str, *, exporter: "SpanExporter | None" = None) -> None:
    """Spans are exported in batches from a separate thread. Tests pass their own exporter."""
    global _tracer
    if settings.otlp_endpoint is None and exporter is None:
        return
    from opentelemetry.sdk.resources import Resource
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import BatchSpanProcessor
    from opentelemetry.sdk.trace.sampling import TraceIdRatioBased

    provider = TracerProvider(
        # By the trace id alone: all services decide alike, and a partner cannot request more.
        sampler=TraceIdRatioBased(settings.trace_ratio),
        resource=Resource.create({"service.namespace": "studio", "service.name": service}),
        shutdown_on_exit=True,
    )
    provider.add_span_processor(BatchSpanProcessor(exporter or _exporter(settings.otlp_endpoint or "")))
    _tracer = provider.get_tracer("studio")


def _exporter(endpoint: str) -> "SpanExporter":
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter

    return OTLPSpanExporter(f"{endpoint.rstrip('/')}/v1/traces", timeout=5)


def _context(parent: str | None) -> Any:
    from opentelemetry.context import Context
    from opentelemetry.trace import NonRecordingSpan, SpanContext, TraceFlags, set_span_in_context

    if parent is None:
        return Context()
    context = SpanContext(
        int(parent[3:35], 16), int(parent[36:52], 16), True, TraceFlags(int(parent[53:], 16))
    )
    return set_span_in_context(NonRecordingSpan(context), Context())
