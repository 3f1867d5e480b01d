"""What JSON can say and nothing here can keep: NUL, lone surrogates, numbers past any double, endless depth.

Each is named at its place. Only who sent one pays for the search, which stays within a small constant times
the body's size: no pattern here starts twice at one byte, and a place is written out for a fault only.
"""

import json
import math
import re
import sys
from collections.abc import Callable, Iterator
from itertools import accumulate, islice
from typing import Any, TypeAlias

from shared.errors import MAX_PROBLEMS, Invalid, Problem

Loc: TypeAlias = tuple[str | int, ...]

# Well inside what the decoder takes (some 900 levels, fewer the deeper its caller stands), so that whoever
# reads the same bytes a second time can read them too.
MAX_DEPTH = 500
# A text without an end is taken to the end of the body: with the quote required, each of its escaped quotes
# was tried as the start of another one, and 40 KB took 39 s.
_TEXT = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"?', re.DOTALL)
_NOT_BRACKETS = bytes(set(range(256)) - set(b"[]{}"))
_STEPS = {ord("["): 1, ord("{"): 1, ord("]"): -1, ord("}"): -1}
_SURROGATE = re.compile("[\ud800-\udfff]")


def refuse_depth(raw: bytes, loc: Loc) -> None:
    """Two counts for most bodies; the brackets are followed only where there are enough of them."""
    if raw.count(b"[") + raw.count(b"{") <= MAX_DEPTH:
        return
    brackets = _TEXT.sub(b"", raw).translate(None, _NOT_BRACKETS)
    if max(accumulate(map(_STEPS.__getitem__, brackets)), default=0) > MAX_DEPTH:
        text = f"Nested too deeply; at most {MAX_DEPTH} levels are read."
        raise Invalid([Problem(loc, text, "json_invalid")])


def nul_problems(value: object, loc: Loc) -> list[Problem]:
    """NUL is valid JSON and no valid text for Postgres: name the places."""
    return _named(_find_problems(value, _nul), loc, sys.maxsize)


def unreadable_values(raw: bytes, loc: Loc) -> list[Problem]:
    """The texts and numbers for which the decoder refused to read `raw`; none where it is no JSON at all."""
    try:
        value = read_leniently(raw)
    except (ValueError, RecursionError):
        return []
    return _named(_find_problems(value, _unreadable), loc, len(raw))


def _named(found: "Iterator[tuple[_Place, _Description]]", loc: Loc, left: int) -> list[Problem]:
    """`left`: many faults below one long key would make an answer far larger than the request."""
    problems: list[Problem] = []
    for place, fault in islice(found, MAX_PROBLEMS):
        problems.append(Problem(_location(place, loc), *fault))
        left -= sum(len(str(step)) for step in problems[-1].loc)
        if left < 0:
            break
    return problems


class _OversizedInteger:
    """A whole number with more digits than Python reads."""


def read_leniently(raw: bytes) -> Any:
    """With lone surrogates and endless numbers. Raises ValueError where it is no JSON at all.

    Python's own reader would guess at UTF-16 and take `NaN`, which are no JSON either.
    """
    text = raw.decode()
    try:
        return json.loads(text, parse_constant=_no_number)
    except json.JSONDecodeError:
        raise
    except ValueError:
        return json.loads(text, parse_constant=_no_number, parse_int=_whole_number)


def _no_number(text: str) -> Any:
    raise ValueError(f"{text} is no JSON number.")


def _whole_number(text: str) -> Any:
    return _OversizedInteger() if len(text.lstrip("-")) > sys.get_int_max_str_digits() > 0 else 0


_Description: TypeAlias = tuple[str, str]


def _nul(leaf: Any) -> _Description | None:
    return ("Text must not hold NUL.", "value_error") if isinstance(leaf, str) and "\x00" in leaf else None


def _unreadable(leaf: Any) -> _Description | None:
    if isinstance(leaf, str):
        if not leaf.isascii() and _SURROGATE.search(leaf):
            return "Text must not hold a lone surrogate.", "value_error"
    elif isinstance(leaf, _OversizedInteger) or (isinstance(leaf, float) and math.isinf(leaf)):
        return "Number out of range.", "number_out_of_range"
    return None


# The last step, and the place it was taken from: a whole path for each value costs the depth each time.
_Place: TypeAlias = "tuple[str | int, _Place] | None"


def _find_problems(
    value: Any, describe: Callable[[Any], _Description | None]
) -> Iterator[tuple[_Place, _Description]]:
    """Each fault of a text, number, … and of a key. Walked with a list, never with the call stack."""
    stack: list[tuple[Any, _Place]] = [({"": value}, None)]
    while stack:
        item, place = stack.pop()
        in_object = isinstance(item, dict)
        for step, inner in item.items() if in_object else enumerate(item):
            if in_object and (fault := describe(step)):
                yield (step, place), fault
            if isinstance(inner, (dict, list)):
                stack.append((inner, (step, place)))
            elif fault := describe(inner):
                yield (step, place), fault


def _location(place: _Place, loc: Loc) -> Loc:
    steps: list[str | int] = []
    while place is not None:
        step, place = place
        steps.append(step if isinstance(step, int) else printable_key(step))
    steps.pop()  # the walk's own, around the whole body
    return (*loc, *reversed(steps))


def printable_key(key: str) -> str:
    """A key as it can be written in an answer."""
    return _SURROGATE.sub("\ufffd", key).replace("\x00", "\\u0000")
