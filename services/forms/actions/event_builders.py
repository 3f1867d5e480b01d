"""Builds the events of leads and form submissions."""

from services.forms.wire.leads import StaffLead, partner_view
from shared.events.event import Event, EventResource
from shared.events.kinds import LeadCreated, LeadUpdated
from shared.http.caller import Caller


def lead_created(caller: Caller, lead: StaffLead) -> Event:
    return LeadCreated(
        studio_id=caller.studio_id,
        resource=EventResource("lead", lead.id, lead.version),
        data=partner_view(lead),
        request_id=caller.request_id or None,
        traceparent=caller.traceparent,
    )


def lead_updated(caller: Caller, lead: StaffLead) -> Event:
    return LeadUpdated(
        studio_id=caller.studio_id,
        resource=EventResource("lead", lead.id, lead.version),
        data=partner_view(lead),
        request_id=caller.request_id or None,
        traceparent=caller.traceparent,
    )
