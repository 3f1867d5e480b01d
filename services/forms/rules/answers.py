"""Checks the answers to a form. Evaluating and submitting both use this, so they agree."""

from collections.abc import Sequence
from typing import Any

from msgspec import Struct

from services.forms.rules.answer_values import Answers, is_empty
from services.forms.rules.conditions import visible_fields
from services.forms.rules.field_checks import CHECKS, FieldContext, Finding
from services.forms.wire.forms import FieldType, FormField
from services.forms.wire.submissions import ConsentGiven
from shared.emails import TOO_MANY_UNUSUAL, has_too_many_unusual
from shared.errors import Invalid, Problem

MISSING = Finding("This field is required.", "missing")
NOT_VISIBLE = Finding("The field is hidden with the other answers given.", "field_not_visible")
UNKNOWN = Finding("The form has no field with this key.", "unknown_field")
NOT_TEXT = Finding("An answer must be a string or an array of strings.", "string_type")


class Evaluation(Struct, frozen=True):
    visible: list[str]
    required: list[str]
    problems: list[Problem]
    consents: list[ConsentGiven]


def malformed_answers(data: dict[str, Any]) -> list[Problem]:
    """Values that are neither a string nor an array of strings, found without the form."""
    return [_at(key, NOT_TEXT) for key, value in data.items() if not _is_answer(value)]


def evaluate(fields: Sequence[FormField], answers: Answers, *, region: str | None = None) -> Evaluation:
    """Hidden fields are never required, and answers to them are rejected."""
    seen = visible_fields(fields, answers)
    context = [field for field in seen if field.type is not FieldType.SECTION_BREAK]
    visible_keys = {field.key for field in seen}
    known = {field.key for field in fields}
    if has_too_many_unusual(answers.get(field.key) for field in seen if field.type is FieldType.EMAIL):
        raise Invalid([Problem(("body", "data"), TOO_MANY_UNUSUAL, "value_error")])
    problems = [problem for field in seen if (problem := _check(FieldContext(field, region), answers))]
    for key in answers:
        if key not in visible_keys:
            problems.append(_at(key, NOT_VISIBLE if key in known else UNKNOWN))
    return Evaluation(
        visible=[field.key for field in seen],
        required=[field.key for field in context if field.required],
        problems=problems,
        consents=[_consent(field, answers) for field in context if field.type is FieldType.CONSENT],
    )


def _check(context: FieldContext, answers: Answers) -> Problem | None:
    field = context.field
    answer = answers.get(field.key)
    if field.type is FieldType.SECTION_BREAK:
        # Not even a blank answer: the caller took it for a question.
        finding = None if answer is None else CHECKS[field.type](context, answer)
    elif answer is None or is_empty(answer):
        finding = MISSING if field.required else None
    else:
        finding = CHECKS[field.type](context, answer)
    return _at(field.key, finding) if finding else None


def _consent(field: FormField, answers: Answers) -> ConsentGiven:
    return ConsentGiven(
        key=field.key,
        given=answers.get(field.key) == "true",
        policy_slug=field.consent_policy_slug,
        policy_version=field.consent_policy_version,
        label=field.consent_label or field.label,
    )


def _is_answer(value: Any) -> bool:
    if isinstance(value, list):
        return all(isinstance(item, str) for item in value)
    return isinstance(value, str)


def _at(key: str, finding: Finding) -> Problem:
    return Problem(("body", "data", key), finding.msg, finding.type)
