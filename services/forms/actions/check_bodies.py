"""Checks bodies beyond their types. The problems are reported together with the type errors.

Each check gets the fields that are valid by themselves. Checks that need a stored row come later.
"""

from msgspec import UNSET

from services.forms.context import Forms
from services.forms.rules.answers import malformed_answers
from services.forms.rules.form_definition import form_problems
from services.forms.rules.lead_metadata import merge_patch, metadata_problems, sent_metadata, size_problems
from services.forms.wire.leads import metadata_sent
from shared.db.timezones import check_phone
from shared.errors import Problem
from shared.http.caller import Caller
from shared.http.routes import PartialBody


async def check_form(service: Forms, caller: Caller, given: PartialBody) -> list[Problem]:
    fields, settings = (given.fields.get(name, UNSET) for name in ("fields", "settings"))
    return form_problems(fields, settings, given.raw)


async def check_new_lead(service: Forms, caller: Caller, given: PartialBody) -> list[Problem]:
    named = {name: given.fields.get(name, UNSET) for name in ("utm_source", "utm_campaign")}
    sent = metadata_sent(given.raw) if "metadata" in given.fields else UNSET
    metadata = sent_metadata(sent, **named)
    return metadata_problems(metadata) + size_problems(metadata)


async def check_lead_change(service: Forms, caller: Caller, given: PartialBody) -> list[Problem]:
    """Metadata that is too large by itself; the size together with what is stored is checked later."""
    sent = metadata_sent(given.raw) if given.fields.get("metadata", UNSET) is not UNSET else UNSET
    metadata = sent_metadata(sent)
    problems = metadata_problems(metadata)
    if not problems:
        problems += size_problems(merge_patch({}, metadata))
    return problems + await check_phone(service.db, caller.studio_id, given.fields.get("phone"))


async def check_answers(service: Forms, caller: Caller, given: PartialBody) -> list[Problem]:
    return malformed_answers(given.fields.get("data", {}))
