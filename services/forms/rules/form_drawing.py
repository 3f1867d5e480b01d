"""A form as the studio drew it: checked, completed, and turned into the text that is kept."""

from collections.abc import Sequence
from typing import Any

from msgspec import UNSET, Raw, UnsetType

from services.forms.rules.form_definition import check_fields, completed
from services.forms.rules.form_settings import check_settings
from services.forms.rules.nesting import too_deep
from services.forms.wire.fields import FormField
from services.forms.wire.forms import AsDrawn, FormSettings, as_drawn
from services.forms.wire.json_text import read_json, write_json
from shared.errors import Invalid, Problem


def form_problems(
    fields: Sequence[FormField] | UnsetType, settings: FormSettings | UnsetType, sent: bytes
) -> list[Problem]:
    """Every problem at once, before anything is looked up. What is unset is left out or wrong already."""
    problems: list[Problem] = []
    try:
        drawn = as_drawn(sent)
    except Invalid as refused:
        problems += refused.problems
        drawn = AsDrawn()
    if fields is not UNSET:
        problems += check_fields(fields)
        problems += _too_deep(drawn.fields, "fields")
    if settings is not UNSET:
        problems += check_settings(settings)
        problems += _too_deep(drawn.settings, "settings")
    return problems


def fields_text(drawn: AsDrawn) -> str:
    fields: list[dict[str, Any]] = read_json(drawn.fields) if isinstance(drawn.fields, Raw) else []
    return write_json([completed(field) for field in fields])


def settings_text(drawn: AsDrawn) -> str:
    return write_json(read_json(drawn.settings)) if isinstance(drawn.settings, Raw) else "{}"


def _too_deep(text: Raw | UnsetType, name: str) -> list[Problem]:
    return too_deep(read_json(text), ("body", name)) if isinstance(text, Raw) else []
