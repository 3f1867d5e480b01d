"""Which events the log takes, by when they were created."""

from collections.abc import Sequence
from datetime import datetime, timedelta

import structlog

from services.webhooks.context import Webhooks
from services.webhooks.rules.days import DAY, KEPT, MAX_CLOCK_SKEW, UNKNOWN, oldest_kept
from services.webhooks.store import log_days
from shared.events.bus import Message, Poison
from shared.events.envelope import Envelope

log = structlog.get_logger("event_log")

# Nearer to the end of what is kept than clocks are wrong, usually.
USUAL_AGE: timedelta = KEPT - 2 * DAY


async def without_expired(
    service: Webhooks, messages: Sequence[Message], envelopes: Sequence[Envelope], at: datetime
) -> tuple[Sequence[Message], Sequence[Envelope]]:
    """Without what is older than the log. Whether that was logged before can no longer be known.

    Our own clock may be wrong, so nothing is refused before the database's clock says the same.
    """
    moments = [envelope.created_at for envelope in envelopes]
    first, last = min(moments), max(moments)
    if service.days.until > UNKNOWN and first > at - USUAL_AGE and last <= at + MAX_CLOCK_SKEW:
        return messages, envelopes
    async with service.db.connection() as conn:
        clock, first_day = await log_days.clock_and_first(conn)
    if last > max(at, clock) + MAX_CLOCK_SKEW:
        raise Poison(f"an event of the future: {last.isoformat()}")
    oldest = max(oldest_kept(min(at, clock)), first_day)
    for envelope in envelopes:
        if envelope.created_at < oldest:
            log.error(
                "event_too_old_to_log", event_id=envelope.id, studio_id=envelope.studio_id, type=envelope.type
            )
    pairs = zip(messages, envelopes, strict=True)
    kept = [(message, envelope) for message, envelope in pairs if envelope.created_at >= oldest]
    return [message for message, _ in kept], [envelope for _, envelope in kept]
