"""One attempt: its request headers and the record that is stored of it."""

import random
from collections.abc import Sequence

import msgspec

from services.webhooks.dispatcher.sender import Sent
from services.webhooks.rules.retry import next_attempt
from services.webhooks.rules.signing import signature
from services.webhooks.store.attempts import Completed, Due
from services.webhooks.store.lanes import Lease
from services.webhooks.wire.deliveries import Attempt


def headers_for(due: Due, keys: Sequence[bytes], at: int) -> dict[str, str]:
    """Every attempt has a new timestamp and signature. The body stays the same, byte for byte."""
    return {
        "Content-Type": "application/json",
        "webhook-id": due.event_id,
        "webhook-timestamp": str(at),
        "webhook-signature": signature(keys, due.event_id, at, due.body),
        "webhook-sequence": str(due.sequence),
    }


def completed(lease: Lease, due: Due, sent: Sent, schedule: Sequence[float]) -> Completed:
    verdict = next_attempt(sent.outcome, due.step, schedule, random.random())
    attempt = Attempt(sent.at, sent.duration_ms, sent.outcome.status, sent.text, sent.outcome.error)
    return Completed(
        lease=lease,
        delivery_id=due.id,
        event_created_at=due.event_created_at,
        attempt_count=due.attempt_count,
        status=verdict.status,
        step=verdict.step,
        wait_seconds=verdict.wait,
        attempt=msgspec.json.encode(attempt).decode(),
    )
