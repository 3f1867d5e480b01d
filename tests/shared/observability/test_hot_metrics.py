"""Our histogram and counter are scraped as those of prometheus_client would be."""

from prometheus_client import CollectorRegistry, Counter, Histogram, generate_latest

from shared.observability.hot_metrics import HotCounter, HotHistogram

BUCKETS = (0.001, 0.25, 1.0, 10.0)
VALUES = (0.0, 0.001, 0.0011, 0.25, 0.3, 1.0, 9.5, 10.0, 11.0)


def lines(registry: CollectorRegistry) -> list[bytes]:
    """Without the library's extra time of creation."""
    return [line for line in generate_latest(registry).splitlines() if b"_created" not in line]


def test_a_histogram_is_scraped_like_the_librarys() -> None:
    """Bounds belong to their bucket; the buckets are cumulative and labelled as Go writes numbers."""
    ours, theirs = CollectorRegistry(), CollectorRegistry()
    hot = HotHistogram("seconds", "Time.", ["service"], buckets=BUCKETS, registry=ours)
    library = Histogram("seconds", "Time.", ["service"], buckets=BUCKETS, registry=theirs)
    for service in ("gateway", "bookings"):
        for value in VALUES:
            hot.labels(service).observe(value)
            library.labels(service).observe(value)
    assert lines(ours) == lines(theirs)


def test_a_counter_is_scraped_like_the_librarys() -> None:
    """By its labels, the number last."""
    ours, theirs = CollectorRegistry(), CollectorRegistry()
    hot = HotCounter("requests_total", "Requests.", ["route", "status"], registry=ours)
    library = Counter("requests_total", "Requests.", ["route", "status"], registry=theirs)
    for route, status in (("/a", 200), ("/a", 404), ("/a", 200), ("/b", 503)):
        counts = hot.labels(route)
        counts[status] = counts.get(status, 0) + 1
        library.labels(route, str(status)).inc()
    assert lines(ours) == lines(theirs)
