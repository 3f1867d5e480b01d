"""What Prometheus reads. Routes are labelled by template, never by path: ids would make endless series."""

from prometheus_client import REGISTRY, Counter, Histogram, generate_latest

CONTENT_TYPE = b"text/plain; version=0.0.4; charset=utf-8"
_BUCKETS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)

REQUEST_SECONDS = Histogram(
    "studio_request_seconds", "Time to answer a request.", ["service", "method", "route"], buckets=_BUCKETS
)
REQUESTS = Counter("studio_requests_total", "Requests answered.", ["service", "method", "route", "status"])


def exposition() -> bytes:
    return generate_latest(REGISTRY)


class RouteMetrics:
    """The two series of one route, looked up once instead of on every request."""

    def __init__(self, service: str, method: str, route: str) -> None:
        self._seconds = REQUEST_SECONDS.labels(service, method, route)
        self._labels = (service, method, route)
        self._by_status: dict[int, Counter] = {}

    def observe(self, status: int, seconds: float) -> None:
        self._seconds.observe(seconds)
        counter = self._by_status.get(status)
        if counter is None:
            counter = self._by_status[status] = REQUESTS.labels(*self._labels, str(status))
        counter.inc()
