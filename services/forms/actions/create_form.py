"""Create a form."""

from msgspec import UNSET

from services.forms.context import Forms
from services.forms.rules.form_drawing import fields_text, settings_text
from services.forms.rules.slugs import slug_of
from services.forms.store import forms
from services.forms.store.forms import FormWritten
from services.forms.wire.forms import AsDrawn, Form, FormStatus, PartnerFormCreate
from shared.http.caller import Caller
from shared.wire import new_id


async def create_form(service: Forms, caller: Caller, body: PartnerFormCreate, drawn: AsDrawn) -> Form:
    form_id = new_id()
    written = FormWritten(
        title=body.title,
        slug=body.slug if body.slug is not UNSET else slug_of(body.title, form_id),
        description=body.description,
        fields=fields_text(drawn),
        settings=settings_text(drawn),
        status=FormStatus(body.status),
    )
    async with service.db.transaction() as conn:
        return await forms.insert(conn, caller, form_id, written)
