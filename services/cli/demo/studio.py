"""The studio itself, its locations, rooms, class types and instructors."""

from collections.abc import Iterator
from typing import Final

from services.cli.demo.ids import STUDIO_ID, Line, demo_id, line

BROOKLYN: Final = "brooklyn"
CHICAGO: Final = "chicago"
TIMEZONES: Final = {BROOKLYN: "America/New_York", CHICAGO: "America/Chicago"}

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
    yield _location(BROOKLYN, "Northlight Brooklyn", "Brooklyn", "NY", is_primary=True)
    yield _location(CHICAGO, "Northlight Chicago", "Chicago", "IL", is_primary=False)
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


def _location(key: str, name: str, city: str, state: str, *, is_primary: bool) -> Line:
    return line(
        "location",
        key,
        name=name,
        city=city,
        state=state,
        timezone=TIMEZONES[key],
        active=True,
        is_primary=is_primary,
    )
