"""Published forms are for every key that reads forms; the rest is for form managers and staff."""

from services.forms.errors import FormNotPublished
from services.forms.wire.forms import Form, FormsQuery, FormStatus
from shared.caller import Caller
from shared.errors import InsufficientScope, NotFound

MANAGER_SCOPE = "forms:write"


def manages_forms(caller: Caller) -> bool:
    return caller.actor == "operator" or MANAGER_SCOPE in caller.scopes


def require_list(caller: Caller, query: FormsQuery) -> None:
    if query.include_drafts and not manages_forms(caller):
        raise InsufficientScope(MANAGER_SCOPE, caller.scopes)


def require_visible(caller: Caller, form: Form) -> None:
    if form.status is not FormStatus.PUBLISHED and not manages_forms(caller):
        raise NotFound


def require_published(form: Form) -> None:
    if form.status is not FormStatus.PUBLISHED:
        raise FormNotPublished(form.status)
