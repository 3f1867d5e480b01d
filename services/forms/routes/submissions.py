"""Submissions: list, read, create."""

from services.forms.actions.check_bodies import check_answers
from services.forms.actions.create_submission import create_submission
from services.forms.context import Forms
from services.forms.errors import AlreadySubmitted, FormClosed, FormNotPublished, SubmissionLimitReached
from services.forms.store import forms, submissions
from services.forms.wire.submissions import FormSubmission, FormSubmissionCreate
from shared.errors import InvalidCursor, NotFound
from shared.http.pages import Page
from shared.http.routes import Call, Route
from shared.wire import PageQuery


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
