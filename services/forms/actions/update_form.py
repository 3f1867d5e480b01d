"""Change a form: omitted properties stay, `fields` and `settings` are replaced as a whole."""

from msgspec import UNSET

from services.forms.actions.event_builders import form_events
from services.forms.context import Forms
from services.forms.rules.form_json import fields_to_store, settings_to_store
from services.forms.rules.transitions import FORM_STATES, require_transition
from services.forms.store import forms
from services.forms.store.forms import FormContent
from services.forms.wire.forms import Form, RawFormJson, StudioFormUpdate
from shared.events.outbox import add_events
from shared.http.caller import Caller


async def update_form(
    service: Forms, caller: Caller, form_id: str, body: StudioFormUpdate, raw: RawFormJson
) -> Form:
    async with service.db.transaction() as conn:
        old = await forms.get_locked(conn, caller, form_id)
        if body.status is not UNSET:
            require_transition(FORM_STATES, old.status, body.status)
        written = FormContent(
            title=body.title if body.title is not UNSET else old.title,
            slug=body.slug if body.slug is not UNSET else old.slug,
            description=body.description if body.description is not UNSET else old.description,
            fields=fields_to_store(raw) if body.fields is not UNSET else bytes(old.fields).decode(),
            settings=settings_to_store(raw) if body.settings is not UNSET else bytes(old.settings).decode(),
            status=body.status if body.status is not UNSET else old.status,
        )
        if written == _content(old):
            return old
        form = await forms.update(conn, caller, old, written)
        await add_events(conn, form_events(caller, old, form))
    service.wakeup.notify()
    return form


def _content(form: Form) -> FormContent:
    return FormContent(
        title=form.title,
        slug=form.slug,
        description=form.description,
        fields=bytes(form.fields).decode(),
        settings=bytes(form.settings).decode(),
        status=form.status,
    )
