"""All Prometheus metrics in one place.

Routes are labelled by template, never by path, and nothing by studio: ids would create endless series.
"""

from prometheus_client import (
    REGISTRY,
    Counter,
    Gauge,
    Histogram,
    disable_created_metrics,
    generate_latest,
)

# They would double the number of series, and nothing reads them.
disable_created_metrics()  # type: ignore[no-untyped-call]

CONTENT_TYPE = b"text/plain; version=0.0.4; charset=utf-8"
_FAST = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
_SLOW = (0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 15.0, 60.0, 300.0, 1800.0, 7200.0, 43200.0, 86400.0)

REQUEST_SECONDS = Histogram(
    "studio_request_seconds", "Time to answer a request.", ["service", "method", "route"], buckets=_FAST
)
REQUESTS = Counter("studio_requests_total", "Requests answered.", ["service", "method", "route", "status"])
REQUEST_LOG_LEFT_OUT = Counter(
    "studio_request_log_left_out_total", "Requests omitted from the request log because there were too many."
)
BOOKINGS = Counter("studio_bookings_total", "Booking requests by outcome.", ["outcome"])
REPLAYS = Counter("studio_idempotency_replays_total", "Writes answered with a stored answer.", ["route"])
OUTBOX_AGE = Gauge("studio_outbox_age_seconds", "Age of the oldest event not yet logged.", ["service"])
OUTBOX_EVENTS = Gauge(
    "studio_outbox_events", "Events that the event log does not have yet, by state.", ["service", "state"]
)
PUBLISHED = Counter("studio_events_published_total", "Events confirmed by the bus.", ["service"])
QUEUE_MESSAGES = Gauge("studio_queue_messages", "Messages in a queue.", ["queue", "state"])
DELIVERIES = Counter("studio_delivery_attempts_total", "Webhook attempts by outcome.", ["outcome"])
DELIVERY_SECONDS = Histogram(
    "studio_delivery_seconds", "Time from an event's creation to its successful delivery.", buckets=_SLOW
)
DELIVERIES_OPEN = Gauge(
    "studio_deliveries", "Deliveries that are pending or dead, counted up to 10,000.", ["status"]
)
DELIVERY_AGE = Gauge("studio_delivery_age_seconds", "Age of the oldest delivery that was never attempted.")
LOG_DAYS = Gauge(
    "studio_log_days",
    "Days of the event log: how many are prepared ahead, and for how many an expired week was not dropped.",
    ["state"],
)
POOL_WAIT = Histogram(
    "studio_pool_wait_seconds", "Time to acquire a database connection.", ["service"], buckets=_FAST
)
POOL_CONNECTIONS = Gauge("studio_pool_connections", "Database connections of a pool.", ["service", "state"])
CONNECTIONS = Gauge("studio_connections", "Open connections of a port.", ["port"])
CONNECTIONS_CLOSED = Counter("studio_connections_closed_total", "Connections that broke a limit.", ["rule"])
EVENT_LOOP_LAG = Histogram(
    "studio_event_loop_lag_seconds",
    "How late a timer of the process was: everything waits as long.",
    buckets=_FAST,
)
LOOP_AGE = Gauge(
    "studio_loop_age_seconds", "Seconds since a background loop's last successful step.", ["loop"]
)


def exposition() -> bytes:
    return generate_latest(REGISTRY)


class RouteMetrics:
    """The series of one route, looked up once instead of on every request."""

    def __init__(self, service: str, method: str, route: str) -> None:
        self._labels = (service, method, route)
        self._seconds = REQUEST_SECONDS.labels(*self._labels)
        self._by_status: dict[int, Counter] = {}

    def observe(self, status: int, seconds: float) -> None:
        self._seconds.observe(seconds)
        requests = self._by_status.get(status)
        if requests is None:
            requests = self._by_status[status] = REQUESTS.labels(*self._labels, str(status))
        requests.inc()
