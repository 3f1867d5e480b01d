"""Checks that a form can be filled in at all, when it is written. Reports every problem."""

from collections import Counter
from collections.abc import Sequence
from typing import Any

import msgspec

from services.forms.rules.field_checks.choices import option_value
from services.forms.wire.fields import ConditionalRule, FieldType, FormField, Operator
from services.forms.wire.forms import MAX_FIELDS
from shared.errors import Problem

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
