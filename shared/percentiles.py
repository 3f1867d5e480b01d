"""How long things took, kept as counts of a few buckets: small to store, and parts add up."""

from bisect import bisect_right
from collections.abc import Mapping
from typing import Final

# In milliseconds. What took less than the first is bucket 0, as `width_bucket` counts.
BOUNDS: Final = (5.0, 10.0, 25.0, 50.0, 100.0, 250.0, 500.0, 1000.0, 2500.0, 5000.0, 10000.0, 30000.0)


def bucket_of(milliseconds: float) -> int:
    return bisect_right(BOUNDS, milliseconds)


def p95(counts: Mapping[int, int]) -> float | None:
    """The upper end of the bucket in which the slowest twentieth begins. None for nothing."""
    left = sum(counts.values()) * 0.95
    for bucket in sorted(counts):
        left -= counts[bucket]
        if left <= 0 and counts[bucket]:
            return BOUNDS[min(bucket, len(BOUNDS) - 1)]
    return None
