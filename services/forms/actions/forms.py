"""Create, change and evaluate a form."""

from msgspec import UNSET, Raw, structs

from services.forms.actions.event_builders import form_events
from services.forms.context import Forms
from services.forms.rules.answers import Evaluation, evaluate
from services.forms.rules.form_access import FORM_STATES, require_transition, require_visible
from services.forms.rules.form_definition import fields_to_store, settings_to_store, slug_of
from services.forms.store import forms
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
from shared.db.timezones import studio_region
from shared.events.outbox import add_events
from shared.http.caller import Caller
from shared.wire import new_id


async def create_form(service: Forms, caller: Caller, body: PartnerFormCreate, raw: RawFormJson) -> Form:
    form_id = new_id()
    form = Form(
        id=form_id,
        title=body.title,
        slug=body.slug if body.slug is not UNSET else slug_of(body.title, form_id),
        description=body.description,
        fields=Raw(fields_to_store(raw).encode()),
        settings=Raw(settings_to_store(raw).encode()),
        status=FormStatus(body.status),
        version=1,
    )
    async with service.db.transaction() as conn:
        await forms.insert(conn, caller, form)
        await add_events(conn, form_events(caller, None, form))
    service.wakeup.notify()
    return form


async def update_form(
    service: Forms, caller: Caller, form_id: str, body: StudioFormUpdate, raw: RawFormJson
) -> Form:
    changes = {name: value for name, value in structs.asdict(body).items() if value is not UNSET}
    if "fields" in changes:
        changes["fields"] = Raw(fields_to_store(raw).encode())
    if "settings" in changes:
        changes["settings"] = Raw(settings_to_store(raw).encode())
    async with service.db.transaction() as conn:
        old = await forms.get(conn, caller, form_id, lock=True)
        if body.status is not UNSET:
            require_transition(FORM_STATES, old.status, body.status)
        if structs.replace(old, **changes) == old:
            return old
        form = structs.replace(old, **changes, version=old.version + 1)
        await forms.update(conn, caller, form)
        await add_events(conn, form_events(caller, old, form))
    service.wakeup.notify()
    return form


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
        region = await studio_region(conn, caller.studio_id)
    return evaluate(fields, data, region=region)
