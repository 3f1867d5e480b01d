"""Forms and their submissions, for partners."""

import msgspec

from services.forms.actions.check_bodies import check_answers, check_form
from services.forms.actions.forms import create_form, evaluate_form, update_form
from services.forms.actions.submissions import create_submission
from services.forms.context import Forms
from services.forms.errors import (
    AlreadySubmitted,
    FormClosed,
    FormNotPublished,
    InvalidStateTransition,
    SlugTaken,
    SubmissionLimitReached,
)
from services.forms.rules.form_access import manages_forms, require_drafts_scope, require_visible
from services.forms.store import forms, submissions
from services.forms.wire.forms import Form, FormsQuery, PartnerFormCreate, StudioFormUpdate, raw_form_json
from services.forms.wire.submissions import FormEvaluate, FormEvaluation, FormSubmission, FormSubmissionCreate
from shared.errors import InsufficientScope, InvalidCursor, NotFound
from shared.http.pages import Page
from shared.http.routes import Call, Routes
from shared.wire import PageQuery

ROUTES: Routes[Forms] = Routes()


@ROUTES.add(
    "GET",
    "/forms",
    "List published forms",
    description="With `include_drafts`, also draft and archived forms; this needs the scope forms:write.",
    guard=require_drafts_scope,
    errors=(InvalidCursor, InsufficientScope),
    tag="Forms",
)
async def list_forms(service: Forms, call: Call[FormsQuery, None]) -> Page[Form]:
    async with service.db.connection() as conn:
        return await forms.page(conn, call.caller, call.query, drafts_known=manages_forms(call.caller))


@ROUTES.add("GET", "/forms/{form_id}", "Read a form", errors=(NotFound,), tag="Forms")
async def get_form(service: Forms, call: Call[None, None]) -> Form:
    async with service.db.connection() as conn:
        form = await forms.get(conn, call.caller, call.path["form_id"])
    require_visible(call.caller, form)
    return form


@ROUTES.add(
    "POST",
    "/forms",
    "Create a form",
    description="Unknown properties of fields and settings are stored and returned.",
    check=check_form,
    keeps_unknown=True,
    status=201,
    errors=(SlugTaken,),
    tag="Forms",
)
async def post_form(service: Forms, call: Call[None, PartnerFormCreate]) -> Form:
    return await create_form(service, call.caller, call.body, raw_form_json(call.raw_body))


@ROUTES.add(
    "PUT",
    "/forms/{form_id}",
    "Update a form",
    description="Omitted properties stay unchanged; `fields` and `settings` are replaced as a whole.",
    check=check_form,
    keeps_unknown=True,
    errors=(NotFound, SlugTaken, InvalidStateTransition),
    tag="Forms",
)
async def put_form(service: Forms, call: Call[None, StudioFormUpdate]) -> Form:
    return await update_form(
        service, call.caller, call.path["form_id"], call.body, raw_form_json(call.raw_body)
    )


@ROUTES.add(
    "POST",
    "/forms/{form_id}/evaluate",
    "Evaluate answers without submitting them",
    description="Returns the visible and required fields, and every problem a submission would have.",
    reads=True,
    check=check_answers,
    errors=(NotFound,),
    tag="Forms",
)
async def post_evaluate(service: Forms, call: Call[None, FormEvaluate]) -> FormEvaluation:
    return await evaluate_form(service, call.caller, call.path["form_id"], call.body)


@ROUTES.add(
    "GET",
    "/forms/{form_id}/submissions",
    "List a form's submissions",
    errors=(InvalidCursor, NotFound),
    tag="Form submissions",
)
async def list_submissions(service: Forms, call: Call[PageQuery, None]) -> Page[FormSubmission]:
    async with service.db.connection() as conn:
        form = await forms.get(conn, call.caller, call.path["form_id"])
        return await submissions.page(conn, call.caller, form.id, call.query)


@ROUTES.add(
    "GET",
    "/forms/{form_id}/submissions/{submission_id}",
    "Read a submission",
    errors=(NotFound,),
    tag="Form submissions",
)
async def get_submission(service: Forms, call: Call[None, None]) -> FormSubmission:
    async with service.db.connection() as conn:
        return await submissions.get(conn, call.caller, call.path["form_id"], call.path["submission_id"])


async def _may_repeat(service: Forms, call: Call[None, FormSubmissionCreate], stored: bytes) -> None:
    """That a form is a draft is for keys that manage forms."""
    refusal = msgspec.json.decode(stored).get("error")
    if refusal and refusal["code"] == FormNotPublished.code and not manages_forms(call.caller):
        raise NotFound


@ROUTES.add(
    "POST",
    "/forms/{form_id}/submissions",
    "Submit answers to a form",
    description="Only answers for visible fields are accepted.",
    check=check_answers,
    may_repeat=_may_repeat,
    status=201,
    errors=(NotFound, FormNotPublished, FormClosed, SubmissionLimitReached, AlreadySubmitted),
    tag="Form submissions",
)
async def post_submission(service: Forms, call: Call[None, FormSubmissionCreate]) -> FormSubmission:
    return await create_submission(service, call.caller, call.path["form_id"], call.body)
