"""Create, change and evaluate a form."""

from msgspec import UNSET

from services.forms.actions.event_builders import form_events
from services.forms.context import Forms
from services.forms.rules.answers import Evaluation, evaluate
from services.forms.rules.form_access import FORM_STATES, require_transition, require_visible
from services.forms.rules.form_definition import fields_to_store, settings_to_store, slug_of
from services.forms.store import forms, studios
from services.forms.store.forms import FormContent
from services.forms.wire.forms import (
    FieldType,
    Form,
    FormStatus,
    PartnerFormCreate,
    RawFormJson,
    StudioFormUpdate,
    fields_of,
)
from services.forms.wire.submissions import FormEvaluate, FormEvaluation
from shared.db.database import Connection
from shared.events.outbox import add_events
from shared.http.caller import Caller
from shared.phones import region_of
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


async def update_form(
    service: Forms, caller: Caller, form_id: str, body: StudioFormUpdate, raw: RawFormJson
) -> Form:
    async with service.db.transaction() as conn:
        old = await forms.get(conn, caller, form_id, lock=True)
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


async def evaluate_form(service: Forms, caller: Caller, form_id: str, body: FormEvaluate) -> FormEvaluation:
    async with service.db.connection() as conn:
        form = await forms.get(conn, caller, form_id)
        require_visible(caller, form)
        found = await evaluation_of(conn, caller, form, body.data)
    return FormEvaluation(
        form_id=form.id,
        form_version=form.version,
        visible_fields=found.visible,
        required_fields=found.required,
        problems=found.problems,
        valid=not found.problems,
    )


async def evaluation_of(
    conn: Connection, caller: Caller, form: Form, data: dict[str, str | list[str]]
) -> Evaluation:
    fields = fields_of(form)
    region = None
    if any(field.type is FieldType.PHONE for field in fields):
        region = region_of(await studios.timezone_of(conn, caller))
    return evaluate(fields, data, region=region)
