"""Evaluate answers to a form without storing them."""

from collections.abc import Sequence

from services.forms.context import Forms
from services.forms.rules.answers import Evaluation, evaluate
from services.forms.rules.form_access import require_visible
from services.forms.store import forms, studios
from services.forms.wire.fields import FieldType, FormField
from services.forms.wire.forms import Form, fields_of
from services.forms.wire.submissions import FormEvaluate, FormEvaluation
from shared.db.database import Connection
from shared.http.caller import Caller


async def evaluate_form(service: Forms, caller: Caller, form_id: str, body: FormEvaluate) -> FormEvaluation:
    async with service.db.connection() as conn:
        form = await forms.get(conn, caller, form_id)
        require_visible(caller, form)
        found = await evaluation_of(service, conn, caller, form, body.data)
    return FormEvaluation(
        form_id=form.id,
        form_version=form.version,
        visible_fields=found.visible,
        required_fields=found.required,
        problems=found.problems,
        valid=not found.problems,
    )


async def evaluation_of(
    service: Forms, conn: Connection, caller: Caller, form: Form, data: dict[str, str | list[str]]
) -> Evaluation:
    fields = fields_of(form)
    return evaluate(fields, data, region=await _region(service, conn, caller, fields))


async def _region(
    service: Forms, conn: Connection, caller: Caller, fields: Sequence[FormField]
) -> str | None:
    if not any(field.type is FieldType.PHONE for field in fields):
        return None
    timezone = await studios.timezone_of(conn, caller)
    return service.regions.get(timezone) if timezone else None
