"""Which partition a studio's events belong to: all events of one studio stay in one partition, in order."""

import hashlib

# Rows are stored by bucket, and a bucket belongs to partition `bucket % partitions`: their number can change
# without rewriting rows. The SQL function `outbox_bucket` computes the same.
BUCKETS = 64


def bucket_of(studio_id: str) -> int:
    return hashlib.sha256(studio_id.lower().encode()).digest()[0] % BUCKETS


def buckets_of(partitions: frozenset[int], count: int) -> list[int]:
    """The buckets of these partitions, of `count` in all."""
    return [bucket for bucket in range(BUCKETS) if bucket % count in partitions]
