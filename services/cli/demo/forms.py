"""Two forms, one with conditional fields and consent; leads; and submissions by some of them."""

from collections.abc import Iterator
from typing import Final

from services.cli.demo.people import email_of
from services.cli.demo.studio import Line, day, demo_id, line

INTAKE: Final = "new-client-intake"
FEEDBACK: Final = "class-feedback"
WAIVER: Final = {"slug": "liability-waiver", "version": "2026-01"}
WAIVER_LABEL: Final = "I have read and accept the liability waiver."
GOALS: Final = ["Strength", "Mobility", "Stress relief", "Something else"]


def _field(key: str, label: str, kind: str, order: int, **more: object) -> Line:
    return {"key": key, "label": label, "type": kind, "order": order, **more}


def _when(field_key: str, op: str, value: object) -> Line:
    return {"field_key": field_key, "op": op, "value": value}


INTAKE_FIELDS: Final = [
    _field("about_you", "About you", "section_break", 0, step_index=0),
    _field("phone", "Mobile number", "phone", 1, placeholder="+1 212 555 0100", step_index=0),
    _field("goals", "What brings you in?", "checkbox_group", 2, required=True, options=GOALS, step_index=0),
    _field("other_goal", "Tell us more", "text", 3, required=True, step_index=0,
           display_when=_when("goals", "contains", "Something else")),
    _field("injuries", "Any injuries we should know of?", "select", 4, required=True, step_index=1,
           options=["no", "yes"], options_layout="buttons"),
    _field("injury_details", "What should your instructor know?", "textarea", 5, required=True, step_index=1,
           display_when=_when("injuries", "in", ["yes"])),
    _field("waiver", "Liability waiver", "consent", 6, required=True, step_index=2,
           consent_policy_slug=WAIVER["slug"], consent_policy_version=WAIVER["version"],
           consent_label=WAIVER_LABEL),
]  # fmt: skip
FEEDBACK_FIELDS: Final = [
    _field("rating", "How was class?", "rating", 0, required=True, max_rating=5),
    _field("what_went_wrong", "What could have been better?", "textarea", 1,
           display_when=_when("rating", "lte", "3")),
]  # fmt: skip

# status, lifecycle stage, source
LEADS: Final = {
    "Robin Castillo": ("new", "lead", "partner_api"),
    "Jules Donovan": ("new", "lead", "waitlist"),
    "Sasha Ellison": ("contacted", "lead", "partner_api"),
    "Quinn Farrell": ("qualified", "trial", "website"),
    "Noor Haddad": ("unqualified", "lead", "partner_api"),
}
# A converted lead is a member under the same email.
CONVERTED: Final = "Ruby Larsen"
ANSWERED: Final = ("Robin Castillo", "Quinn Farrell")


def form_lines() -> Iterator[Line]:
    yield line(
        "form",
        INTAKE,
        title="New Client Intake",
        slug=INTAKE,
        description="Two minutes before your first class.",
        fields=INTAKE_FIELDS,
        settings={
            "confirmation_message": "Thank you. See you on the mat!",
            "require_authentication": False,
            "one_submission_per_email": True,
        },
        status="published",
        version=1,
    )
    yield line(
        "form",
        FEEDBACK,
        title="Class Feedback",
        slug=FEEDBACK,
        description=None,
        fields=FEEDBACK_FIELDS,
        settings={},
        status="draft",
        version=1,
    )


def lead_lines() -> Iterator[Line]:
    people = {**LEADS, CONVERTED: ("converted", "member", "website")}
    for number, (name, (status, stage, source)) in enumerate(people.items()):
        metadata: Line = {"utm_campaign": "summer"} if number % 2 else {}
        if name in ANSWERED:
            metadata["form_submissions"] = [_receipt(name)]
        yield line(
            "lead",
            name,
            email=email_of(name),
            first_name=name.split(" ", 1)[0],
            source=source,
            status=status,
            lifecycle_stage=stage,
            metadata=metadata,
            created_at=day(7, 1 + number),
        )


def _receipt(name: str) -> Line:
    return {
        "form_id": demo_id("form", INTAKE),
        "form_slug": INTAKE,
        "submission_id": demo_id("form_submission", name),
        "submitted_at": day(7, 12),
    }


def submission_lines() -> Iterator[Line]:
    for name in ANSWERED:
        hurt = name == ANSWERED[1]
        answers: Line = {
            "goals": ["Strength", "Mobility"],
            "injuries": "yes" if hurt else "no",
            "waiver": "true",
        }
        if hurt:
            answers["injury_details"] = "Left knee, no deep lunges."
        yield line(
            "form_submission",
            name,
            form_id=demo_id("form", INTAKE),
            submitter_email=email_of(name),
            submitter_name=name,
            data=answers,
            status="reviewed" if hurt else "pending",
            created_at=day(7, 12),
            form_version=1,
            consents=[
                {
                    "key": "waiver",
                    "given": True,
                    "policy_slug": WAIVER["slug"],
                    "policy_version": WAIVER["version"],
                    "label": WAIVER_LABEL,
                }
            ],
        )
