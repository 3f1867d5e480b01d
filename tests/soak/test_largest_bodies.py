"""Hostile bodies of the largest size, to every route that takes one."""

import pytest

from tests.services.gateway.test_bounded_work import (
    LARGEST,
    WRITES,
    Attacker,
    attacker,
    named,
    too_dear_bodies,
)

__all__ = ["attacker"]


@pytest.mark.timeout(1800)
async def test_the_largest_hostile_body_costs_a_small_constant_times_its_size(attacker: Attacker) -> None:
    """240 KiB each."""
    found = {named(route): await too_dear_bodies(attacker, route, LARGEST) for route in WRITES}
    assert {name: bodies for name, bodies in found.items() if bodies} == {}
