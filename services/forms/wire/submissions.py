"""Submissions: the resource, the bodies that create one, and the result of an evaluation."""

from enum import StrEnum
from typing import Annotated, Any, Literal

from msgspec import Meta, Raw, Struct, field

from shared.errors import Problem
from shared.wire import Body, Email, Id, Instant, Resource

_ANSWER = {"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}}]}
_BY_KEY = Meta(
    description="Answers by field key: strings or arrays of strings.",
    extra_json_schema={"type": "object", "additionalProperties": _ANSWER},
)
# Checked in rules/answers.py and not by the type, so that a problem names the field's key.
AnswersSent = Annotated[dict[str, Any], _BY_KEY]
AnswersKept = Annotated[Raw, _BY_KEY]


class SubmissionStatus(StrEnum):
    PENDING = "pending"
    REVIEWED = "reviewed"
    REJECTED = "rejected"


class ConsentGiven(Struct, kw_only=True, frozen=True):
    """What was shown with a consent, so that the studio can prove what was agreed to."""

    key: str
    given: bool
    policy_slug: str | None
    policy_version: str | None
    label: str


class FormSubmission(Resource, kw_only=True):
    id: Id
    object: Literal["form_submission"] = "form_submission"
    form_id: Id
    submitter_email: Email
    data: AnswersKept
    status: SubmissionStatus
    created_at: Instant
    submitter_name: str | None
    form_version: int
    consents: list[ConsentGiven]


class FormSubmissionCreate(Body, frozen=True, kw_only=True):
    submitter_name: Annotated[str, Meta(max_length=400)] | None = None
    submitter_email: Email
    data: AnswersSent


class FormEvaluate(Body, frozen=True, kw_only=True):
    data: AnswersSent = field(default_factory=dict)


class FormEvaluation(Resource, kw_only=True):
    """What submitting these answers would lead to. Nothing is stored."""

    object: Literal["form_evaluation"] = "form_evaluation"
    form_id: Id
    form_version: int
    visible_fields: list[str]
    required_fields: list[str]
    problems: list[Problem]
    valid: bool
