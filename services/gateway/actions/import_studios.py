"""Import of studio lines. Several services store a studio, so we validate the whole line before any does."""

from collections.abc import Sequence
from functools import cache
from zoneinfo import available_timezones

import msgspec

from services.gateway.errors import SlugTaken
from services.gateway.store import studios
from services.gateway.wire.studio import StudioLine
from shared.db.database import Database
from shared.transfer.lines import ImportLine, Rejected, decode_line
from shared.wire import is_id

# Read once: it takes 12 ms, and every line asks.
_timezones = cache(available_timezones)


async def validate_studios(
    db: Database, lines: Sequence[ImportLine], refused: dict[int, Rejected]
) -> dict[int, StudioLine]:
    """The valid ones by line number; the others are added to `refused`."""
    good: dict[int, StudioLine] = {}
    for line in lines:
        try:
            studio: StudioLine = decode_line(StudioLine, line)
        except ValueError as problem:
            refused[line.number] = Rejected(line.number, str(problem))
            continue
        if reason := await _refusal(db, studio):
            refused[line.number] = Rejected(line.number, reason)
        else:
            good[line.number] = studio
    return good


async def save_studio(db: Database, studio: StudioLine) -> str | None:
    """None, or the reason it failed: another import may have taken the slug since validation."""
    try:
        async with db.transaction() as conn:
            await studios.upsert(conn, [msgspec.to_builtins(studio)])
    except SlugTaken as problem:
        return problem.text
    return None


async def _refusal(db: Database, studio: StudioLine) -> str | None:
    if studio.timezone is not None and studio.timezone not in _timezones():
        return f"timezone {studio.timezone!r} is not an IANA time zone."
    fee = studio.late_fee_amount
    if fee is not None and not (fee.is_finite() and 0 <= fee < 10**10):
        return f"late_fee_amount {fee} is not valid."
    if fee and studio.late_fee_currency is None:
        return "A late_fee_amount needs its late_fee_currency in the same line."
    if studio.slug is None:
        return None
    if is_id(studio.slug):
        return "A slug must not look like an id."
    async with db.connection() as conn:
        taken = await studios.slug_is_taken(conn, studio.slug, studio.id)
    return "Another studio has this slug." if taken else None
