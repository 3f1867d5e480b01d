"""Create a form."""

from msgspec import UNSET

from services.forms.actions.event_builders import form_events
from services.forms.context import Forms
from services.forms.rules.form_json import fields_to_store, settings_to_store
from services.forms.rules.slugs import slug_of
from services.forms.store import forms
from services.forms.store.forms import FormContent
from services.forms.wire.forms import Form, FormStatus, PartnerFormCreate, RawFormJson
from shared.events.outbox import add_events
from shared.http.caller import Caller
from shared.wire import new_id


async def create_form(service: Forms, caller: Caller, body: PartnerFormCreate, raw: RawFormJson) -> Form:
    form_id = new_id()
    written = FormContent(
        title=body.title,
        slug=body.slug if body.slug is not UNSET else slug_of(body.title, form_id),
        description=body.description,
        fields=fields_to_store(raw),
        settings=settings_to_store(raw),
        status=FormStatus(body.status),
    )
    async with service.db.transaction() as conn:
        form = await forms.insert(conn, caller, form_id, written)
        await add_events(conn, form_events(caller, None, form))
    service.wakeup.notify()
    return form
