"""Read the parts of an import line that the gateway needs: its kind and its studio."""

from typing import Final

import msgspec
from msgspec import Struct

from shared.transfer.lines import ImportLine, Rejected

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
