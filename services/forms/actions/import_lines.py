"""Upserts the lines of a batch that change something, with their events, and reports unusable lines."""

from collections import defaultdict
from collections.abc import Sequence
from functools import partial

from services.forms.actions.import_events import with_events
from services.forms.context import Forms
from services.forms.rules.import_rows import row_to_store
from services.forms.store import studios
from services.forms.store.import_lines import CHANGED, WRITERS, Row, changed
from services.forms.wire.import_lines import AnyImported, ImportedLead
from shared.db.database import Connection
from shared.errors import Invalid
from shared.http.import_phones import refuse_phones
from shared.http.importing import (
    Decoded,
    ImportLine,
    ImportReport,
    Rejected,
    apply_batch,
    changed_lines,
    decode_line,
)


async def import_lines(
    service: Forms, lines: Sequence[ImportLine], *, send_events: bool = True
) -> ImportReport:
    usable: dict[type, list[Decoded[Row]]] = defaultdict(list)
    rejected: list[Rejected] = []
    for line in lines:
        decoded: Decoded[AnyImported] | Rejected = decode_line(AnyImported, line)
        if isinstance(decoded, Rejected):
            rejected.append(decoded)
            continue
        try:
            row = row_to_store(decoded.value, bytes(line.resource))
        except Invalid as problem:
            rejected.append(Rejected(line.number, problem.text.removeprefix("body.")))
        except ValueError as problem:
            rejected.append(Rejected(line.number, str(problem)))
        else:
            usable[type(decoded.value)].append(Decoded(line.number, line.studio_id, row))

    async def regions_of(studio_ids: set[str]) -> dict[str, str]:
        async with service.db.connection() as conn:
            timezones = await studios.timezones_of(conn, studio_ids)
        return {
            studio: service.regions[zone] for studio, zone in timezones.items() if zone in service.regions
        }

    for kind, write in WRITERS:
        if kind is ImportedLead:
            usable[kind], refused = await refuse_phones(usable[kind], lambda lead: lead["phone"], regions_of)
            rejected += refused
        own = await changed_lines(service.db, usable[kind], partial(_changed, kind))
        rejected += await apply_batch(service.db, own, with_events(kind, write) if send_events else write)
    service.wakeup.notify()
    rejected.sort(key=lambda one: one.line)
    return ImportReport(imported=len(lines) - len(rejected), rejected=rejected)


async def _changed(kind: type, conn: Connection, lines: Sequence[Decoded[Row]]) -> Sequence[int]:
    """A studio's line is always written, since there are few."""
    return await changed(conn, kind, lines) if kind in CHANGED else range(len(lines))
