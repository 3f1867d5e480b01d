"""The events of an import, from what was stored before and after its lines were written."""

from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from services.forms.actions.event_builders import (
    SubmissionReference,
    form_events,
    lead_created,
    lead_updated,
    submission_event,
)
from services.forms.store import import_shown
from services.forms.store.import_lines import lock_import
from services.forms.wire.import_lines import ImportedForm, ImportedLead, ImportedSubmission
from services.forms.wire.leads import partner_view
from shared.db.database import Connection
from shared.events.event import Event
from shared.events.kinds import FormSubmitted, SubmissionUpdated
from shared.events.outbox import add_events
from shared.http.caller import Caller
from shared.http.importing import Decoded, Write

Lines = Sequence[Decoded[Any]]
Read = Callable[[Connection, Lines], Awaitable[dict[tuple[str, str], Any]]]


def with_events(kind: type, write: Write[Any]) -> Write[Any]:
    """Runs `write` and adds the events of what it has changed, in the same transaction."""
    if kind not in TOLD:
        return write
    read, events_of = TOLD[kind]

    async def write_and_tell(conn: Connection, lines: Lines) -> None:
        await lock_import(conn, lines)
        before = await read(conn, lines)
        await write(conn, lines)
        after = await read(conn, lines)
        for key, now in after.items():
            caller = Caller(studio_id=key[0], actor="operator")
            if now != before.get(key):
                await add_events(conn, events_of(caller, key[1], before.get(key), now))

    return write_and_tell


def _form(caller: Caller, form_id: str, before: Any, now: Any) -> list[Event]:
    return form_events(caller, before, now)


def _submission(caller: Caller, submission_id: str, before: Any, now: Any) -> list[Event]:
    kind = FormSubmitted if before is None else SubmissionUpdated
    return [submission_event(kind, caller, SubmissionReference(submission_id, *now))]


def _lead(caller: Caller, lead_id: str, before: Any, now: Any) -> list[Event]:
    if before is None:
        return [lead_created(caller, now)]
    # Notes and phone are written here and never shown.
    return [lead_updated(caller, before, now)] if partner_view(before) != partner_view(now) else []


TOLD: dict[type, tuple[Read, Callable[[Caller, str, Any, Any], list[Event]]]] = {
    ImportedForm: (import_shown.forms, _form),
    ImportedSubmission: (import_shown.submissions, _submission),
    ImportedLead: (import_shown.leads, _lead),
}
