"""Forms and their submissions, for partners."""

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
from shared.http.routes import Call, Route
from shared.wire import PageQuery


async def list_forms(service: Forms, call: Call[FormsQuery, None]) -> Page[Form]:
    async with service.db.connection() as conn:
        return await forms.page(conn, call.caller, call.query, drafts_known=manages_forms(call.caller))


async def get_form(service: Forms, call: Call[None, None]) -> Form:
    async with service.db.connection() as conn:
        form = await forms.get(conn, call.caller, call.path["form_id"])
    require_visible(call.caller, form)
    return form


async def post_form(service: Forms, call: Call[None, PartnerFormCreate]) -> Form:
    return await create_form(service, call.caller, call.body, raw_form_json(call.raw_body))


async def put_form(service: Forms, call: Call[None, StudioFormUpdate]) -> Form:
    return await update_form(
        service, call.caller, call.path["form_id"], call.body, raw_form_json(call.raw_body)
    )


async def post_evaluate(service: Forms, call: Call[None, FormEvaluate]) -> FormEvaluation:
    return await evaluate_form(service, call.caller, call.path["form_id"], call.body)


async def list_submissions(service: Forms, call: Call[PageQuery, None]) -> Page[FormSubmission]:
    async with service.db.connection() as conn:
        form = await forms.get(conn, call.caller, call.path["form_id"])
        return await submissions.page(conn, call.caller, form.id, call.query)


async def get_submission(service: Forms, call: Call[None, None]) -> FormSubmission:
    async with service.db.connection() as conn:
        return await submissions.get(conn, call.caller, call.path["form_id"], call.path["submission_id"])


async def post_submission(service: Forms, call: Call[None, FormSubmissionCreate]) -> FormSubmission:
    return await create_submission(service, call.caller, call.path["form_id"], call.body)


ROUTES: list[Route[Forms]] = [
    Route(
        method="GET",
        path="/forms",
        handler=list_forms,
        summary="List published forms",
        description="With `include_drafts`, also draft and archived forms; this needs the scope forms:write.",
        query=FormsQuery,
        guard=require_drafts_scope,
        answer=Page[Form],
        errors=(InvalidCursor, InsufficientScope),
        tag="Forms",
    ),
    Route(
        method="GET",
        path="/forms/{form_id}",
        handler=get_form,
        summary="Read a form",
        answer=Form,
        errors=(NotFound,),
        tag="Forms",
    ),
    Route(
        method="POST",
        path="/forms",
        handler=post_form,
        summary="Create a form",
        description="Unknown properties of fields and settings are stored and returned.",
        body=PartnerFormCreate,
        check=check_form,
        answer=Form,
        status=201,
        errors=(SlugTaken,),
        tag="Forms",
    ),
    Route(
        method="PUT",
        path="/forms/{form_id}",
        handler=put_form,
        summary="Update a form",
        description="Omitted properties stay unchanged; `fields` and `settings` are replaced as a whole.",
        body=StudioFormUpdate,
        check=check_form,
        answer=Form,
        errors=(NotFound, SlugTaken, InvalidStateTransition),
        tag="Forms",
    ),
    Route(
        method="POST",
        path="/forms/{form_id}/evaluate",
        handler=post_evaluate,
        summary="Evaluate answers without submitting them",
        description="Returns the visible and required fields, and every problem a submission would have.",
        body=FormEvaluate,
        check=check_answers,
        answer=FormEvaluation,
        errors=(NotFound,),
        tag="Forms",
    ),
    Route(
        method="GET",
        path="/forms/{form_id}/submissions",
        handler=list_submissions,
        summary="List a form's submissions",
        query=PageQuery,
        answer=Page[FormSubmission],
        errors=(InvalidCursor, NotFound),
        tag="Form submissions",
    ),
    Route(
        method="GET",
        path="/forms/{form_id}/submissions/{submission_id}",
        handler=get_submission,
        summary="Read a submission",
        answer=FormSubmission,
        errors=(NotFound,),
        tag="Form submissions",
    ),
    Route(
        method="POST",
        path="/forms/{form_id}/submissions",
        handler=post_submission,
        summary="Submit answers to a form",
        description="Only answers for visible fields are accepted.",
        body=FormSubmissionCreate,
        check=check_answers,
        answer=FormSubmission,
        status=201,
        errors=(NotFound, FormNotPublished, FormClosed, SubmissionLimitReached, AlreadySubmitted),
        tag="Form submissions",
    ),
]
