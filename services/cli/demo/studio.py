"""The studio itself, its locations, rooms, class types, instructors and products.

Ids and timestamps are the same on every machine and every day.
"""

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Final
from uuid import UUID, uuid5

from msgspec import Struct

Line = dict[str, object]

NAMESPACE: Final = UUID("6f0d7c0e-5f3c-5b0a-9a3e-7d4a3f9c2b11")


def demo_id(kind: str, name: str) -> str:
    return str(uuid5(NAMESPACE, f"{kind}/{name}"))


STUDIO_ID: Final = demo_id("studio", "demo")


def line(kind: str, name: str, /, **fields: object) -> Line:
    return {"object": kind, "id": demo_id(kind, name), "studio_id": STUDIO_ID, **fields}


def instant(moment: datetime) -> str:
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def day(month: int, day_of_month: int, hour: int = 15) -> str:
    """A timestamp in the studio's past. It is fixed, so that a second import changes nothing."""
    return instant(datetime(2026, month, day_of_month, hour, tzinfo=UTC))


BROOKLYN: Final = "brooklyn"
CHICAGO: Final = "chicago"
TIMEZONES: Final = {BROOKLYN: "America/New_York", CHICAGO: "America/Chicago"}
STATES: Final = {BROOKLYN: "NY", CHICAGO: "IL"}

# name, location, capacity
ROOMS: Final = {
    "brooklyn-main": ("Main Floor", BROOKLYN, 20),
    "brooklyn-reformer": ("Reformer Room", BROOKLYN, 8),
    "chicago-loft": ("The Loft", CHICAGO, 16),
    "chicago-bikes": ("Bike Room", CHICAGO, 12),
}

# name, description, beginner_safe, recovery
CLASS_TYPES: Final = {
    "flow": (
        "Vinyasa Flow",
        "Breath-led sequences that build heat, with options in every pose.",
        True,
        False,
    ),
    "restore": ("Restorative Yoga", "Long, supported holds. Bring socks and an easy evening.", True, True),
    "reformer": ("Reformer Pilates", "Spring-loaded strength work on your own machine.", False, False),
    "mat": ("Mat Pilates", "Core work from the floor up, no machine needed.", True, False),
    "ride": ("Rhythm Ride", "Forty-five minutes on the bike, to the beat.", False, False),
    "hiit": ("HIIT 45", "Short intervals, honest rest, full effort.", False, False),
    "barre": ("Barre Basics", "Small movements with a long burn; made for first-timers.", True, False),
    "stretch": ("Stretch & Roll", "Mobility and foam rolling for the day after.", None, True),
}

# name, tagline, tags, active
INSTRUCTORS: Final = {
    "maya": ("Maya Okafor", "Strong starts with the breath.", ["vinyasa", "restorative"], True),
    "jonas": ("Jonas Lindqvist", "Small springs, big changes.", ["pilates", "reformer"], True),
    "priya": ("Priya Raman", "Find the beat, then forget the clock.", ["cycling", "hiit"], True),
    "diego": ("Diego Alvarez", "Form first, speed second.", ["hiit", "mobility"], True),
    "hannah": ("Hannah Weiss", "Shake now, stand taller later.", ["barre", "pilates"], True),
    "tom": ("Tom Becker", "", ["cycling"], False),
}


def studio_lines() -> Iterator[Line]:
    yield {
        "object": "studio",
        "id": STUDIO_ID,
        "name": "Northlight Movement",
        "slug": "demo",
        "timezone": TIMEZONES[BROOKLYN],
        "logo_url": None,
        "primary_color": "#2f6f5e",
        "late_window_minutes": 720,
        "late_fee_amount": "15.00",
        "late_fee_currency": "USD",
        "forfeit_credit": True,
    }
    for key, state in STATES.items():
        city, zone, primary = key.capitalize(), TIMEZONES[key], key == BROOKLYN
        fields = {"city": city, "state": state, "timezone": zone, "active": True, "is_primary": primary}
        yield line("location", key, name=f"Northlight {city}", **fields)
    for key, (name, location, capacity) in ROOMS.items():
        place = demo_id("location", location)
        yield line("room", key, location_id=place, name=name, capacity=capacity, active=True)
    for key, (name, description, beginner_safe, recovery) in CLASS_TYPES.items():
        yield line(
            "class_type",
            key,
            name=name,
            description=description,
            beginner_safe=beginner_safe,
            recovery=recovery,
        )
    for key, (name, tagline, tags, active) in INSTRUCTORS.items():
        yield line("instructor", key, name=name, tagline=tagline, tags=tags, active=active)


class DemoPrice(Struct, frozen=True):
    amount: str
    interval: str = ""
    default: bool = True
    active: bool = True


class DemoProduct(Struct, frozen=True):
    name: str
    product_type: str
    prices: tuple[DemoPrice, ...]
    credits_granted: int | None = None
    active: bool = True
    client_visible: bool = True


PRODUCTS: dict[str, DemoProduct] = {
    "intro-3": DemoProduct("Intro Pack: 3 Classes", "package", (DemoPrice("49.00"),), 3),
    "pack-5": DemoProduct("5-Class Pack", "package", (DemoPrice("110.00"),), 5),
    "pack-10": DemoProduct(
        "10-Class Pack",
        "package",
        (DemoPrice("200.00"), DemoPrice("180.00", default=False, active=False)),
        10,
    ),
    "unlimited": DemoProduct(
        "Unlimited Membership",
        "membership",
        (DemoPrice("169.00", "month"), DemoPrice("1690.00", "year", default=False)),
    ),
    "staff-guest": DemoProduct("Guest of Staff", "package", (DemoPrice("0.00"),), 1, client_visible=False),
    "summer-pass": DemoProduct("Summer Pass 2026", "package", (DemoPrice("99.00"),), 6, active=False),
}


def product_lines() -> Iterator[Line]:
    for key, product in PRODUCTS.items():
        yield line(
            "product",
            key,
            key=key,
            name=product.name,
            product_type=product.product_type,
            active=product.active,
            client_visible=product.client_visible,
            credits_granted=product.credits_granted,
            prices=[_price(key, number, price) for number, price in enumerate(product.prices)],
        )


def _price(key: str, number: int, price: DemoPrice) -> Line:
    return {
        "id": demo_id("price", f"{key}/{number}"),
        "amount": price.amount,
        "currency": "USD",
        "price_type": "recurring" if price.interval else "one_time",
        "interval": price.interval,
        "default": price.default,
        "active": price.active,
    }
