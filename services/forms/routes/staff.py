"""Staff operations: everything partners can do, plus notes, phones and reviewing submissions."""

from collections.abc import Awaitable, Callable

from services.forms.actions.submissions import decide_submission
from services.forms.context import Forms
from services.forms.errors import InvalidStateTransition
from services.forms.routes import forms, leads
from services.forms.store import leads as lead_store
from services.forms.wire.leads import StaffLead
from services.forms.wire.submissions import FormSubmission, SubmissionStatus
from shared.errors import NotFound
from shared.http.pages import Page
from shared.http.reads import read_one, read_page
from shared.http.routes import Call, Route
from shared.wire import PageQuery


def _decide(status: SubmissionStatus) -> Callable[[Forms, Call[None, None]], Awaitable[FormSubmission]]:
    async def decided(service: Forms, call: Call[None, None]) -> FormSubmission:
        form_id, submission_id = call.path["form_id"], call.path["submission_id"]
        return await decide_submission(service, call.caller, form_id, submission_id, status)

    return decided


ROUTES: list[Route[Forms]] = [
    *(route.for_staff() for route in forms.ROUTES),
    *(route.for_staff() for route in leads.ROUTES if route.method != "GET"),
    read_page(
        "/leads", lead_store.page, "List leads with phone and notes", PageQuery, Page[StaffLead], tag="Leads"
    ).for_staff(),
    read_one(
        "/leads/{lead_id}", lead_store.get, "Read a lead with phone and notes", StaffLead, tag="Leads"
    ).for_staff(),
    *(
        Route(
            method="POST",
            path=f"/staff/forms/{{form_id}}/submissions/{{submission_id}}/{verb}",
            handler=_decide(status),
            summary=summary,
            response=FormSubmission,
            errors=(NotFound, InvalidStateTransition),
            staff=True,
            role="staff",
            tag="Form submissions",
        )
        for verb, status, summary in (
            ("review", SubmissionStatus.REVIEWED, "Mark a submission as reviewed"),
            ("reject", SubmissionStatus.REJECTED, "Reject a submission"),
        )
    ),
]
