"""Members, their memberships in several states, and purchases that granted credits."""

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
