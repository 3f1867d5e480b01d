"""Checks the phone numbers of import lines in the same way as those of a request's body."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import TypeVar

from shared.http.importing import Decoded, Rejected
from shared.phones import PHONE_PROBLEM, phone_problems

T = TypeVar("T")
# The country of each of these studios, where it is known.
RegionsOf = Callable[[set[str]], Awaitable[Mapping[str, str]]]


async def refuse_phones(
    lines: Sequence[Decoded[T]], phone_of: Callable[[T], object], regions_of: RegionsOf
) -> tuple[list[Decoded[T]], list[Rejected]]:
    """Call it once the batch's studio lines are stored: they determine the country of national numbers."""
    national = [line for line in lines if phone_problems(phone_of(line.value), None)]
    if not national:
        return list(lines), []
    regions = await regions_of({line.studio_id for line in national})
    bad = {
        line.number for line in national if phone_problems(phone_of(line.value), regions.get(line.studio_id))
    }
    rejected = [Rejected(number, f"phone: {PHONE_PROBLEM}") for number in sorted(bad)]
    return [line for line in lines if line.number not in bad], rejected
