"""Which fields are visible, given the answers so far."""

from collections.abc import Sequence

from services.forms.rules.answer_values import Answers
from services.forms.rules.conditions import ComparedAnswer, holds
from services.forms.wire.fields import FormField


def visible_fields(fields: Sequence[FormField], answers: Answers) -> list[FormField]:
    """The visible ones in the form's order. A hidden controller counts as empty.

    A field has at most one controller, so its rules form a path. The path is followed to the first resolved
    field and resolved on the way back, iteratively, so that no chain is too long.
    """
    by_key = {field.key: field for field in fields}
    settled: dict[str, bool] = {}
    compared: dict[str, ComparedAnswer] = {}
    for field in fields:
        path: list[FormField] = []
        walking: set[str] = set()
        step: FormField | None = field
        while step is not None and step.key not in settled and step.key not in walking:
            path.append(step)
            walking.add(step.key)
            step = by_key.get(step.display_when.field_key) if step.display_when else None
        for one in reversed(path):
            settled[one.key] = _is_visible(one, by_key, settled, answers, compared)
    return [field for field in fields if settled[field.key]]


def _is_visible(
    field: FormField,
    by_key: dict[str, FormField],
    settled: dict[str, bool],
    answers: Answers,
    compared: dict[str, ComparedAnswer],
) -> bool:
    rule = field.display_when
    if rule is None:
        return True
    controller = by_key.get(rule.field_key)
    if controller is None:
        # Validation prevents such rules; if one got in another way, the field stays hidden.
        return False
    if controller.key not in compared:
        seen = settled.get(controller.key, False)
        compared[controller.key] = ComparedAnswer(answers.get(controller.key) if seen else None)
    return holds(rule, controller.type, compared[controller.key])
