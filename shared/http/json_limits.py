"""Valid JSON that we cannot store: NUL, lone surrogates, numbers out of range, excessive nesting.

Each problem is reported with its location. The search runs only for bodies that have one, and its cost is
linear in the body's size: no pattern restarts at the same byte, and locations are built only for problems.
"""

import json
import math
import re
import sys
from collections.abc import Callable, Iterator
from itertools import accumulate, compress, count, islice
from typing import Any, Final, TypeAlias

from shared.errors import MAX_PROBLEMS, Invalid, Problem

Loc: TypeAlias = tuple[str | int, ...]

# Well below what the decoder accepts (about 900 levels, fewer from a deep call stack), so that every later
# reader of the same bytes can decode them too.
MAX_DEPTH = 500
# Python, and so the decoder, reads no longer integers.
MAX_DIGITS = 4_300
# An unterminated string extends to the end of the body. If the closing quote were required, every escaped
# quote would be tried as another start: 40 KB took 39 s.
_TEXT = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"?', re.DOTALL)
_NOT_BRACKETS = bytes(set(range(256)) - set(b"[]{}"))
_ONE_KIND = bytes.maketrans(b"{}", b"[]")
_RUNS = re.compile(rb"(\[+)|\]+")
_SURROGATE = re.compile("[\ud800-\udfff]")


def refuse_depth(raw: bytes, loc: Loc) -> None:
    """Two counts are enough for most bodies; nesting is tracked only if there are enough brackets."""
    if raw.count(b"[") + raw.count(b"{") <= MAX_DEPTH:
        return
    brackets, removed = _TEXT.sub(b"", raw).translate(_ONE_KIND, _NOT_BRACKETS), 0
    # Without its innermost pairs it is one level less deep. Once they are few, so are the runs to count.
    while len(outer := brackets.replace(b"[]", b"")) < len(brackets) * 3 // 4:
        brackets, removed = outer, removed + 1
    steps = (len(run[0]) * (1 if run[1] else -1) for run in _RUNS.finditer(brackets))
    if removed + max(accumulate(steps), default=0) > MAX_DEPTH:
        text = f"Nested too deeply; at most {MAX_DEPTH} levels are read."
        raise Invalid([Problem(loc, text, "json_invalid")])


def nul_problems(value: object, loc: Loc) -> list[Problem]:
    """NUL is valid in JSON but not in Postgres text."""
    return _named(_find_problems(value, _nul, _NUL_TYPES), loc, sys.maxsize)


def unreadable_values(raw: bytes, loc: Loc) -> tuple[Any, list[Problem]]:
    """The value, and its strings and numbers that the decoder cannot read; none if it is not JSON at all."""
    try:
        # Python's own reader accepts lone surrogates; also UTF-16 and `NaN`, which are not JSON.
        value = json.loads(raw.decode(), parse_constant=_no_number, parse_int=_integer)
    except (ValueError, RecursionError):
        return None, []
    return value, _named(_find_problems(value, _unreadable, _UNREADABLE_TYPES), loc, len(raw))


def _named(found: "Iterator[tuple[_Place, _Description]]", loc: Loc, left: int) -> list[Problem]:
    """`left` limits the size: many problems below one long key would exceed the size of the request."""
    problems: list[Problem] = []
    for place, fault in islice(found, MAX_PROBLEMS):
        problems.append(Problem(_location(place, loc), *fault))
        left -= sum(map(len, map(str, problems[-1].loc)))
        if left < 0:
            break
    return problems


class _OversizedInteger:
    """Stands for an integer that is longer than Python reads."""


def _no_number(text: str) -> Any:
    raise ValueError(f"{text} is not a JSON number.")


def _integer(text: str) -> Any:
    return int(text) if len(text.lstrip("-")) <= MAX_DIGITS else _OversizedInteger()


_Description: TypeAlias = tuple[str, str]


# Values of other types have no problem, and asking about each would take most of the time.
_NUL_TYPES: Final = frozenset({dict, list, str})
_UNREADABLE_TYPES: Final = frozenset({dict, list, str, float, _OversizedInteger})


def _nul(leaf: Any) -> _Description | None:
    return ("Text must not contain NUL.", "value_error") if "\x00" in leaf else None


def _unreadable(leaf: Any) -> _Description | None:
    if isinstance(leaf, str):
        if not leaf.isascii() and _SURROGATE.search(leaf):
            return "Text must not contain a lone surrogate.", "value_error"
    elif isinstance(leaf, _OversizedInteger) or (isinstance(leaf, float) and math.isinf(leaf)):
        return "Number out of range.", "number_out_of_range"
    return None


# The last step, and the place before it. Building the whole path of each value would cost its depth each
# time.
_Place: TypeAlias = "tuple[str | int, _Place] | None"


def _find_problems(
    value: Any, describe: Callable[[Any], _Description | None], types: frozenset[type]
) -> Iterator[tuple[_Place, _Description]]:
    """Walks values and keys with an explicit stack, so that nesting cannot overflow the call stack."""
    stack: list[tuple[Any, _Place]] = [({"": value}, None)]
    while stack:
        item, place = stack.pop()
        steps, values = (item, item.values()) if isinstance(item, dict) else (count(), item)
        wanted = map(types.__contains__, map(type, values))
        for step, inner in compress(zip(steps, values, strict=False), wanted):
            if isinstance(inner, (dict, list)):
                stack.append((inner, (step, place)))
            elif fault := describe(inner):
                yield (step, place), fault
        for key in item if isinstance(item, dict) else ():
            if fault := describe(key):
                yield (key, place), fault


def _location(place: _Place, loc: Loc) -> Loc:
    steps: list[str | int] = []
    while place is not None:
        step, place = place
        steps.append(step if isinstance(step, int) else printable_key(step))
    steps.pop()  # added by the walk around the whole body
    return (*loc, *reversed(steps))


def printable_key(key: str) -> str:
    """A key as it can be written in a response."""
    return key if key.isprintable() else _SURROGATE.sub("\ufffd", key).replace("\x00", "\\u0000")
