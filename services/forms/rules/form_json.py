"""A form's own JSON: checked, filled with defaults, and turned into the text that is stored."""

from collections.abc import Sequence
from typing import Any

from msgspec import UNSET, Raw, UnsetType

from services.forms.rules.checkable_parts import checkable_fields, checkable_settings
from services.forms.rules.form_definition import check_fields, with_defaults
from services.forms.rules.form_settings import check_settings
from services.forms.rules.json_limits import too_deep
from services.forms.wire.fields import FormField
from services.forms.wire.forms import FormSettings, RawFormJson, raw_form_json
from services.forms.wire.json_text import read_json, write_json
from shared.errors import Invalid, Problem
from shared.http.body_problems import with_whole_numbers


def form_problems(
    fields: Sequence[FormField] | UnsetType, settings: FormSettings | UnsetType, sent: bytes
) -> list[Problem]:
    """Every problem at once, before anything is looked up. What is unset was left out, or is partly wrong."""
    problems: list[Problem] = []
    try:
        raw = raw_form_json(sent)
    except Invalid as refused:
        problems += refused.problems
        raw = RawFormJson()
    fields = checkable_fields(raw.fields) if fields is UNSET else fields
    settings = checkable_settings(raw.settings) if settings is UNSET else settings
    if fields is not UNSET:
        problems += check_fields(fields)
        problems += _too_deep(raw.fields, "fields")
    if settings is not UNSET:
        problems += check_settings(settings)
        problems += _too_deep(raw.settings, "settings")
    return problems


def fields_to_store(raw: RawFormJson) -> str:
    fields: list[dict[str, Any]] = read_json(raw.fields) if isinstance(raw.fields, Raw) else []
    return write_json([with_defaults(field) for field in with_whole_numbers(list[FormField], fields)])


def settings_to_store(raw: RawFormJson) -> str:
    if not isinstance(raw.settings, Raw):
        return "{}"
    return write_json(with_whole_numbers(FormSettings, read_json(raw.settings)))


def _too_deep(text: Raw | UnsetType, name: str) -> list[Problem]:
    return too_deep(read_json(text), ("body", name)) if isinstance(text, Raw) else []
