"""Any key that can read forms sees published ones; drafts and archived forms need forms:write or staff."""

from contextlib import suppress

from services.forms.errors import FormNotPublished
from services.forms.wire.forms import DraftsQuery, Form, FormStatus
from shared.errors import InsufficientScope, Invalid, NotFound
from shared.http.caller import Caller
from shared.http.decoding import decode_query

MANAGER_SCOPE = "forms:write"


def manages_forms(caller: Caller) -> bool:
    return caller.actor == "operator" or MANAGER_SCOPE in caller.scopes


def require_drafts_scope(caller: Caller, query: bytes) -> None:
    """Runs before the query is validated: a missing scope is reported before an invalid limit."""
    if manages_forms(caller) or not query:
        return
    with suppress(Invalid):
        if decode_query(DraftsQuery, query).include_drafts:
            raise InsufficientScope(MANAGER_SCOPE, caller.scopes)


def require_visible(caller: Caller, form: Form) -> None:
    if form.status is not FormStatus.PUBLISHED and not manages_forms(caller):
        raise NotFound


def require_published(form: Form) -> None:
    if form.status is not FormStatus.PUBLISHED:
        raise FormNotPublished(form.status)
