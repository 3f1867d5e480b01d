"""Upserts a batch of import lines, each kind in one statement, and reports the lines that cannot be used.

Sends no events: what is imported happened elsewhere.
"""

from collections import defaultdict
from collections.abc import Sequence

from services.forms.context import Forms
from services.forms.rules.import_rows import row_to_store
from services.forms.store.import_lines import WRITERS, Row
from services.forms.wire.import_lines import AnyImported
from shared.errors import Invalid
from shared.http.importing import Decoded, ImportLine, ImportReport, Rejected, apply_batch, decode_line


async def import_lines(service: Forms, lines: Sequence[ImportLine]) -> ImportReport:
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
    for kind, write in WRITERS:
        rejected += await apply_batch(service.db, usable[kind], write)
    rejected.sort(key=lambda one: one.line)
    return ImportReport(imported=len(lines) - len(rejected), rejected=rejected)
