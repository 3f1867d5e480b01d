"""What staff write may refer only to what their studio has: the catalog is asked first, as for an import."""

from typing import Any, Final

import msgspec
from msgspec import Struct

from services.gateway.context import OperatorContext
from shared.errors import Invalid, Problem
from shared.transfer.lines import ImportLine, ImportReport
from shared.wire import encode, is_id, new_id


class _References(Struct):
    location_id: Any = None
    room_id: Any = None
    instructor_id: Any = None
    class_type_id: Any = None


FIELDS: Final = _References.__struct_fields__


async def check_references(context: OperatorContext, request_id: str, studio_id: str, body: bytes) -> None:
    """Raises `Invalid` for ids that the studio's catalog does not have. The owner checks everything else."""
    try:
        given = msgspec.json.decode(body, type=_References)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return
    lines = [
        ImportLine(number, studio_id, msgspec.Raw(encode({"object": "class", "id": new_id(), name: named})))
        for number, name in enumerate(FIELDS, 1)
        if isinstance(named := getattr(given, name), str) and is_id(named)
    ]
    if not lines:
        return
    report = await context.ask(
        ImportReport, "catalog", "POST", "/internal/import/check", request_id=request_id, body=lines
    )
    if report.rejected:
        raise Invalid(
            [
                Problem(("body", FIELDS[row.line - 1]), row.reason, "unknown_reference")
                for row in report.rejected
            ]
        )
