"""How this service's lines are checked, compared and written, and the events of what they change."""

from collections.abc import Awaitable, Callable
from typing import Any

from services.forms.actions.event_builders import form_events, lead_updated, submission_event
from services.forms.rules.import_rows import row_to_store
from services.forms.store import import_lines as store
from services.forms.wire import import_lines as wire
from services.forms.wire.leads import partner_view
from shared.db.database import Connection
from shared.events.event import Event
from shared.events.kinds import FormSubmitted, LeadCreated, SubmissionUpdated
from shared.http.caller import Caller
from shared.transfer.importing import Import, Step, Watch, lock_studios
from shared.transfer.lines import Rows
from shared.transfer.refusals import Importer, Unique

Read = Callable[[Connection, Rows], Awaitable[dict[tuple[str, str], Any]]]
EventsOf = Callable[[Caller, str, Any, Any], list[Event]]


def _watch(read: Read, events_of: EventsOf) -> Watch:
    async def watch(conn: Connection, rows: Rows) -> Callable[[], Awaitable[list[Event]]]:
        before = await read(conn, rows)

        async def events() -> list[Event]:
            found: list[Event] = []
            for (studio_id, id_), now in (await read(conn, rows)).items():
                old = before.get((studio_id, id_))
                if now != old:
                    found += events_of(Caller(studio_id=studio_id, actor="operator"), id_, old, now)
            return found

        return events

    return watch


def _form(caller: Caller, form_id: str, before: Any, now: Any) -> list[Event]:
    return form_events(caller, before, now)


def _submission(caller: Caller, submission_id: str, before: Any, now: Any) -> list[Event]:
    kind = FormSubmitted if before is None else SubmissionUpdated
    return [submission_event(kind, caller, submission_id, *now)]


def _lead(caller: Caller, lead_id: str, before: Any, now: Any) -> list[Event]:
    if before is None:
        return [caller.event(LeadCreated, now.id, now.version, partner_view(now))]
    # Notes and phone are written here and never shown.
    return [lead_updated(caller, before, now)] if partner_view(before) != partner_view(now) else []


def _step(importer: Importer, watch: Watch | None = None) -> Step:
    return Step(importers=(importer,), lock=lock_studios, watch=watch)


IMPORT = Import(
    lines=wire.AnyImported,
    to_row=row_to_store,
    steps=(
        _step(Importer(line=wire.ImportedStudio, write=store.write_studios)),
        _step(
            store.FORMS.importer(wire.ImportedForm, unique=(Unique(fields=("slug",)),)),
            _watch(store.read_forms, _form),
        ),
        _step(
            store.SUBMISSIONS.importer(wire.ImportedSubmission, refers_to={"form_id": "forms"}),
            _watch(store.read_submissions, _submission),
        ),
        _step(
            store.LEADS.importer(
                wire.ImportedLead, write=store.write_leads, unique=(Unique(fields=("email",)),)
            ),
            _watch(store.read_leads, _lead),
        ),
    ),
)
