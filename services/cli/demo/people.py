"""Members, their memberships in several states, purchases that granted credits, leads, forms and answers."""

from collections.abc import Iterator
from typing import Final

from services.cli.demo.studio import BROOKLYN, CHICAGO, PRODUCTS, Line, day, demo_id, line

# The first ten have an active membership, the next ten have credits; each of the rest is a special case.
SUBSCRIBERS: Final = (
    "Ava Bennett", "Liam Carter", "Zoe Dhillon", "Noah Eriksen", "Mia Fontaine",
    "Ethan Garcia", "Isla Hughes", "Lucas Ibarra", "Nora Jensen", "Owen Kowalski",
)  # fmt: skip
PACK_HOLDERS: Final = (
    "Ruby Larsen", "Felix Moreau", "Clara Nakamura", "Hugo Ortiz", "Elena Petrova",
    "Samir Qureshi", "Grace Rossi", "Theo Svensson", "Lena Tanaka", "Marcus Usman",
)  # fmt: skip
PAUSED: Final = "Ivy Vasquez"
PAST_DUE: Final = "Caleb Wright"
LEAVING: Final = "Aisha Yilmaz"
SUSPENDED: Final = "Victor Zhang"
NEWCOMER: Final = "Dana Abbott"
APP_USER: Final = "Kofi Boateng"
EVERYONE: Final = (
    *SUBSCRIBERS,
    *PACK_HOLDERS,
    PAUSED,
    PAST_DUE,
    LEAVING,
    SUSPENDED,
    NEWCOMER,
    APP_USER,
)
ROLES: Final = {NEWCOMER: "lead", APP_USER: "user"}
PAUSE: Final = {"paused_at": day(7, 20), "resumes_at": None, "reason": "Travelling"}
CANCELLATION: Final = {
    "requested_at": day(7, 28),
    "effective_at": day(8, 28),
    "at_period_end": True,
    "reason": "Moving away",
}


def email_of(name: str) -> str:
    return f"{name.lower().replace(' ', '.')}@example.com"


def member_id(name: str) -> str:
    return demo_id("member", name)


def member_lines() -> Iterator[Line]:
    for number, name in enumerate(EVERYONE):
        first, last = name.split(" ", 1)
        kind, start = _membership_of(name)
        yield line(
            "member",
            name,
            name=name,
            first_name=first,
            last_name=last,
            email=email_of(name),
            role=ROLES.get(name, "member"),
            membership_type=kind,
            membership_start_date=start,
            membership_end_date=None,
            created_at=day(1 + number % 4, 2 + number),
            phone=f"+1 212 555 01{number:02d}" if number % 3 else None,
            suspended=name == SUSPENDED,
        )


def _membership_of(name: str) -> tuple[str | None, str | None]:
    if name in (*SUBSCRIBERS, PAUSED, PAST_DUE, LEAVING):
        return "unlimited", day(5, 1)
    return ("intro", None) if name in PACK_HOLDERS[:3] else (None, None)


def membership_lines() -> Iterator[Line]:
    for name in SUBSCRIBERS:
        yield _membership(name, "active")
    yield _membership(PAUSED, "paused", state_version=2, pause=PAUSE)
    yield _membership(PAST_DUE, "past_due", state_version=2)
    yield _membership(LEAVING, "cancelled", state_version=3, cancellation=CANCELLATION)


def _membership(
    name: str, status: str, *, state_version: int = 1, pause: object = None, cancellation: object = None
) -> Line:
    return line(
        "membership",
        name,
        member_id=member_id(name),
        product_id=demo_id("product", "unlimited"),
        status=status,
        auto_renew=status in ("active", "past_due"),
        state_version=state_version,
        pause=pause,
        cancellation=cancellation,
        starts_at=day(5, 1),
        ends_at=CANCELLATION["effective_at"] if cancellation else None,
    )


def purchase_lines() -> Iterator[Line]:
    for number, name in enumerate(PACK_HOLDERS):
        product = "intro-3" if number < 3 else "pack-5" if number < 7 else "pack-10"
        yield _purchase(name, product, "completed", CHICAGO if number % 3 == 2 else BROOKLYN, number)
    yield _purchase(PAUSED, "pack-5", "refunded", BROOKLYN, 11, refunded="110.00")
    yield _purchase(APP_USER, "pack-10", "pending", BROOKLYN, 12)
    yield _purchase(NEWCOMER, "intro-3", "failed", CHICAGO, 13)


def _purchase(
    name: str, product: str, status: str, location: str, number: int, *, refunded: str | None = None
) -> Line:
    return line(
        "purchase",
        f"{name}/{product}",
        member_id=member_id(name),
        product_id=demo_id("product", product),
        product_key=product,
        product_type=PRODUCTS[product].product_type,
        quantity=1,
        amount_total=PRODUCTS[product].prices[0].amount,
        currency="USD",
        refunded_amount=refunded,
        status=status,
        created_at=day(6, 1 + number),
        location_id=demo_id("location", location),
    )


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
