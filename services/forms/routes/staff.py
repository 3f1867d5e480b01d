"""Staff operations: everything partners can do, plus notes, phones and reviewing submissions."""

from services.forms.actions.submissions import decide_submission
from services.forms.context import Forms
from services.forms.errors import InvalidStateTransition
from services.forms.routes import forms, leads
from services.forms.store import leads as lead_store
from services.forms.wire.leads import StaffLead
from services.forms.wire.submissions import FormSubmission, SubmissionStatus
from shared.errors import InvalidCursor, NotFound
from shared.http.pages import Page
from shared.http.routes import Call, Route
from shared.wire import PageQuery


async def list_leads(service: Forms, call: Call[PageQuery, None]) -> Page[StaffLead]:
    async with service.db.connection() as conn:
        return await lead_store.page(conn, call.caller, call.query)


async def get_lead(service: Forms, call: Call[None, None]) -> StaffLead:
    async with service.db.connection() as conn:
        return await lead_store.get(conn, call.caller, call.path["lead_id"])


async def review(service: Forms, call: Call[None, None]) -> FormSubmission:
    path = call.path
    return await decide_submission(
        service, call.caller, path["form_id"], path["submission_id"], SubmissionStatus.REVIEWED
    )


async def reject(service: Forms, call: Call[None, None]) -> FormSubmission:
    path = call.path
    return await decide_submission(
        service, call.caller, path["form_id"], path["submission_id"], SubmissionStatus.REJECTED
    )


ROUTES: list[Route[Forms]] = [
    *(route.for_staff() for route in forms.ROUTES),
    *(route.for_staff() for route in leads.ROUTES if route.method != "GET"),
    Route(
        method="GET",
        path="/staff/leads",
        handler=list_leads,
        summary="List leads with phone and notes",
        query=PageQuery,
        answer=Page[StaffLead],
        errors=(InvalidCursor,),
        staff=True,
        role="staff",
        tag="Leads",
    ),
    Route(
        method="GET",
        path="/staff/leads/{lead_id}",
        handler=get_lead,
        summary="Read a lead with phone and notes",
        answer=StaffLead,
        errors=(NotFound,),
        staff=True,
        role="staff",
        tag="Leads",
    ),
    Route(
        method="POST",
        path="/staff/forms/{form_id}/submissions/{submission_id}/review",
        handler=review,
        summary="Mark a submission as reviewed",
        answer=FormSubmission,
        errors=(NotFound, InvalidStateTransition),
        staff=True,
        role="staff",
        tag="Form submissions",
    ),
    Route(
        method="POST",
        path="/staff/forms/{form_id}/submissions/{submission_id}/reject",
        handler=reject,
        summary="Reject a submission",
        answer=FormSubmission,
        errors=(NotFound, InvalidStateTransition),
        staff=True,
        role="staff",
        tag="Form submissions",
    ),
]
