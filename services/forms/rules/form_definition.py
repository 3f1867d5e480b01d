"""A form's own JSON: checked, filled with defaults, and turned into the text that is stored."""

import re
import unicodedata
from collections import Counter
from collections.abc import Sequence
from datetime import datetime
from typing import Any
from urllib.parse import urlsplit

import msgspec
from msgspec import UNSET, Raw, Struct, UnsetType

from services.forms.errors import FormClosed
from services.forms.rules.field_checks import option_value
from services.forms.rules.json_limits import too_deep
from services.forms.wire.forms import (
    MAX_FIELDS,
    ConditionalRule,
    FieldType,
    FormField,
    FormSettings,
    Operator,
    RawFormJson,
    raw_form_json,
)
from services.forms.wire.json_text import read_json, write_json
from shared.errors import Invalid, Problem
from shared.http.body_problems import with_whole_numbers


def checkable_fields(sent: Raw | UnsetType) -> Sequence[FormField] | UnsetType:
    """Each at its index. A wrong property gets a value that passes every check."""
    items = msgspec.json.decode(sent) if isinstance(sent, Raw) else None
    if not isinstance(items, list) or len(items) > MAX_FIELDS:
        return UNSET
    return [_checkable_field(index, item) for index, item in enumerate(items)]


def _checkable_field(index: int, item: Any) -> FormField:
    right = _right_properties(FormField, item)
    if isinstance(item, dict) and "options" in item and "options" not in right:
        right["type"] = FieldType.TEXT
    # No request can hold this key: NUL is refused everywhere.
    return FormField(**{"key": f"\x00{index}", "label": "", "type": FieldType.TEXT} | right)


def checkable_settings(sent: Raw | UnsetType) -> FormSettings | UnsetType:
    values = msgspec.json.decode(sent) if isinstance(sent, Raw) else None
    return FormSettings(**_right_properties(FormSettings, values)) if isinstance(values, dict) else UNSET


def _right_properties(kind: type[Struct], values: Any) -> dict[str, Any]:
    right: dict[str, Any] = {}
    for field in msgspec.structs.fields(kind) if isinstance(values, dict) else ():
        if field.encode_name in values:
            try:
                right[field.name] = msgspec.convert(values[field.encode_name], field.type)
            except msgspec.ValidationError:
                continue
    return right


def check_settings(settings: FormSettings) -> list[Problem]:
    problems = []
    if settings.redirect_url is not None and not _is_https(settings.redirect_url):
        problems.append(_settings_problem("redirect_url", "A redirect goes to an https address."))
    return problems


def limits_submissions(settings: FormSettings) -> bool:
    """Such a form takes one submission at a time: two at once could both pass the limit check."""
    return settings.max_submissions is not None or bool(settings.one_submission_per_email)


def require_open(settings: FormSettings, now: datetime) -> None:
    if settings.closes_at is not None and now >= settings.closes_at:
        raise FormClosed(settings.closes_at)


def _is_https(url: str) -> bool:
    try:
        parts = urlsplit(url)
        return parts.scheme == "https" and bool(parts.hostname) and not any(c.isspace() for c in url)
    except ValueError:
        return False


def _settings_problem(name: str, msg: str) -> Problem:
    return Problem(("body", "settings", name), msg, "value_error")


# Operators that take one value: with a list the rule would never, or always, hold.
ONE_VALUE = frozenset(Operator) - {Operator.IN, Operator.NOT_IN, Operator.EMPTY, Operator.NOT_EMPTY}
_CHOICES = (FieldType.SELECT, FieldType.CHECKBOX_GROUP)
_DEFAULTS = {field.name: field.default for field in msgspec.structs.fields(FormField) if not field.required}


def with_defaults(field: dict[str, Any]) -> dict[str, Any]:
    """The field with every specified property present; its own properties stay unchanged."""
    full = field | {name: value for name, value in _DEFAULTS.items() if name not in field}
    rule = full["display_when"]
    if isinstance(rule, dict) and "value" not in rule:
        full["display_when"] = rule | {"value": None}
    return full


def check_fields(fields: Sequence[FormField]) -> list[Problem]:
    if len(fields) > MAX_FIELDS:
        text = f"{len(fields)} fields; a form can have at most {MAX_FIELDS}."
        return [Problem(("body", "fields"), text, "too_long")]
    problems = [problem for index, field in enumerate(fields) for problem in _check_field(index, field)]
    return problems + _doubled_keys(fields) + _wrong_controllers(fields)


def _check_field(index: int, field: FormField) -> list[Problem]:
    problems = []
    rule = field.display_when
    if rule is not None and rule.op in ONE_VALUE and isinstance(rule.value, list):
        place = ("body", "fields", index, "display_when", "value")
        problems.append(Problem(place, f"{rule.op} compares with one value; use in or not_in.", "rule_value"))
    if field.type is FieldType.SELECT and not field.options:
        problems.append(_at(index, "options", "A select needs options.", "missing_options"))
    if field.type in _CHOICES and any(option_value(option) is None for option in field.options or ()):
        text = "An option must be a string, a number, or an object with either as its value."
        problems.append(_at(index, "options", text, "option_value"))
    if field.min is not None and field.max is not None and field.min > field.max:
        problems.append(_at(index, "min", "min is greater than max.", "min_over_max"))
    return problems


def _doubled_keys(fields: Sequence[FormField]) -> list[Problem]:
    counts = Counter(field.key for field in fields)
    first: set[str] = set()
    problems = []
    for index, field in enumerate(fields):
        if counts[field.key] > 1 and field.key in first:
            problems.append(_at(index, "key", "Another field has this key.", "duplicate_key"))
        first.add(field.key)
    return problems


def _wrong_controllers(fields: Sequence[FormField]) -> list[Problem]:
    rules = {field.key: field.display_when for field in fields}
    in_cycle = _keys_in_cycles(rules)
    problems = []
    for index, field in enumerate(fields):
        if field.display_when is None:
            continue
        controller = field.display_when.field_key
        if controller == field.key:
            finding = ("A field cannot control itself.", "self_reference")
        elif controller not in rules:
            finding = ("The form has no field with this key.", "unknown_controller")
        elif field.key in in_cycle:
            finding = ("The rules of these fields form a cycle.", "rule_cycle")
        else:
            continue
        problems.append(
            Problem(("body", "fields", index, "display_when", "field_key"), finding[0], finding[1])
        )
    return problems


def _keys_in_cycles(rules: dict[str, ConditionalRule | None]) -> set[str]:
    """A field has at most one controller: follow the chain until it ends or meets a visited key."""
    settled: set[str] = set()
    found: set[str] = set()
    for start in rules:
        path: list[str] = []
        places: dict[str, int] = {}
        key: str | None = start
        while key is not None and key in rules and key not in settled and key not in places:
            places[key] = len(path)
            path.append(key)
            rule = rules[key]
            key = rule.field_key if rule else None
        if key is not None and key in places:
            found.update(path[places[key] :])
        settled.update(path)
    return found


def _at(index: int, name: str, msg: str, kind: str) -> Problem:
    return Problem(("body", "fields", index, name), msg, kind)


MAX_SLUG_LENGTH = 80

_NOT_SLUG = re.compile(r"[^a-z0-9]+")


def slug_of(title: str, form_id: str) -> str:
    """Accents are dropped. A title in another script gets `form-` and the start of the form's id."""
    folded = unicodedata.normalize("NFKD", title.casefold()).encode("ascii", "ignore").decode()
    slug = _NOT_SLUG.sub("-", folded).strip("-")[:MAX_SLUG_LENGTH].strip("-")
    return slug or f"form-{form_id[:8]}"


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
        problems += _part_too_deep(raw.fields, "fields")
    if settings is not UNSET:
        problems += check_settings(settings)
        problems += _part_too_deep(raw.settings, "settings")
    return problems


def fields_to_store(raw: RawFormJson) -> str:
    fields: list[dict[str, Any]] = read_json(raw.fields) if isinstance(raw.fields, Raw) else []
    return write_json([with_defaults(field) for field in with_whole_numbers(list[FormField], fields)])


def settings_to_store(raw: RawFormJson) -> str:
    if not isinstance(raw.settings, Raw):
        return "{}"
    return write_json(with_whole_numbers(FormSettings, read_json(raw.settings)))


def _part_too_deep(text: Raw | UnsetType, name: str) -> list[Problem]:
    return too_deep(read_json(text), ("body", name)) if isinstance(text, Raw) else []
