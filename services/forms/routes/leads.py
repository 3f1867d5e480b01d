"""Leads: list, read, create or identify, update."""

from services.forms.actions.check_bodies import check_lead_change, check_new_lead
from services.forms.actions.leads import create_lead, update_lead
from services.forms.context import Forms
from services.forms.errors import InvalidStateTransition, LeadExists
from services.forms.store import leads
from services.forms.wire.leads import (
    Lead,
    LeadCreate,
    LeadUpdate,
    MutationResult,
    metadata_sent,
    partner_page,
    partner_view,
)
from shared.errors import InvalidCursor, NotFound
from shared.http.pages import Page
from shared.http.routes import Call, Route, Routes
from shared.wire import PageQuery

ROUTES: Routes[Forms] = Routes()


@ROUTES.add("GET", "/leads", "List leads", errors=(InvalidCursor,), tag="Leads")
async def list_leads(service: Forms, call: Call[PageQuery, None]) -> Page[Lead]:
    async with service.db.connection() as conn:
        return partner_page(await leads.page(conn, call.caller, call.query))


@ROUTES.add("GET", "/leads/{lead_id}", "Read a lead", errors=(NotFound,), tag="Leads")
async def get_lead(service: Forms, call: Call[None, None]) -> Lead:
    async with service.db.connection() as conn:
        return partner_view(await leads.get(conn, call.caller, call.path["lead_id"]))


@ROUTES.add(
    "POST",
    "/leads",
    "Create or identify a lead",
    description="Leads are unique per normalized email. `created` tells whether the lead is new.",
    check=check_new_lead,
    status=201,
    tag="Leads",
)
async def post_lead(service: Forms, call: Call[None, LeadCreate]) -> MutationResult:
    return await create_lead(service, call.caller, call.body, metadata_sent(call.raw_body))


async def patch_lead(service: Forms, call: Call[None, LeadUpdate]) -> MutationResult:
    sent = metadata_sent(call.raw_body)
    return await update_lead(service, call.caller, call.path["lead_id"], call.body, sent)


ROUTES += [
    *(
        Route(
            method=method,
            path=path,
            handler=patch_lead,
            summary=summary,
            description="PATCH and POST …/update are the same operation. Omitted properties stay unchanged.",
            body=LeadUpdate,
            check=check_lead_change,
            response=MutationResult,
            errors=(NotFound, InvalidStateTransition, LeadExists),
            tag="Leads",
        )
        for method, path, summary in (
            ("PATCH", "/leads/{lead_id}", "Update a lead"),
            ("POST", "/leads/{lead_id}/update", "Update a lead by POST"),
        )
    ),
]
