"""The lines of an import: what the gateway reads of each, and what it validates of a studio's.

Several services store a studio, so the gateway validates the whole line before any of them does.
"""

from collections.abc import Sequence
from typing import Final

import msgspec
from msgspec import Struct

from services.gateway.errors import SlugTaken
from services.gateway.store import studios
from services.gateway.wire.studio import StudioLine
from shared.db.database import Database
from shared.db.timezones import zone_problem
from shared.transfer.lines import ImportLine, Rejected, decode_line
from shared.wire import is_id

# The services that store a kind of resource, or have what it refers to. A line goes to all of them.
OWNERS: Final[dict[str, tuple[str, ...]]] = {
    "studio": ("catalog", "bookings", "forms"),
    "location": ("catalog", "bookings"),
    "product": ("catalog", "bookings"),
    "room": ("catalog",),
    "class_type": ("catalog",),
    "instructor": ("catalog",),
    "class": ("catalog", "bookings"),
    "class_spot": ("bookings",),
    "member": ("bookings",),
    "membership": ("catalog", "bookings"),
    "purchase": ("catalog", "bookings"),
    "booking": ("bookings",),
    "waitlist": ("bookings",),
    "form": ("forms",),
    "form_submission": ("forms",),
    "lead": ("forms",),
}


class _Head(Struct):
    """The fields of a line that the gateway reads; its owner validates the rest."""

    object: str
    id: str | None = None
    studio_id: str | None = None


# Nested as deeply as in the batch, so that a line that decodes here also decodes in the service.
_head = msgspec.json.Decoder(list[list[_Head]])
_BOM = b"\xef\xbb\xbf"


def read_import_line(number: int, text: bytes, studio: str | None) -> tuple[str, ImportLine] | Rejected:
    """The kind and the line, or why it cannot be routed. `studio` is for lines without one."""
    text = text.removeprefix(_BOM)
    try:
        decoded = _head.decode(b"[[" + text + b"]]")
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as problem:
        return Rejected(number, f"The line is not a valid JSON object: {problem}")
    # `{…},{…}` and `{…}],[{…}` are valid inside the brackets that were added, but not one object.
    if len(decoded) != 1 or len(decoded[0]) != 1:
        return Rejected(number, "The line must contain exactly one JSON object.")
    head = decoded[0][0]
    if head.object not in OWNERS:
        known = ", ".join(OWNERS)
        return Rejected(number, f"object {head.object[:100]!r} cannot be imported; there are {known}.")
    owner = head.id if head.object == "studio" else head.studio_id or studio
    if owner is None:
        return Rejected(number, "The line has no studio_id, and no studio was given.")
    return head.object, ImportLine(number, owner.lower(), msgspec.Raw(text))


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
    if reason := zone_problem(studio.timezone):
        return reason
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
