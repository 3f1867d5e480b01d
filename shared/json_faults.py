"""What JSON can say and nothing here can keep: NUL, lone surrogates, numbers past any double, endless depth.

Each is named at its place. Only who sent one pays for the search.
"""

import json
import math
import re
import sys
from collections.abc import Iterator
from typing import Any, TypeAlias

from shared.errors import Invalid, Problem

Loc: TypeAlias = tuple[str | int, ...]

# Well inside what the decoder takes (some 900 levels, fewer the deeper its caller stands), so that whoever
# reads the same bytes a second time can read them too.
DEEPEST = 500
_TOKEN = re.compile(rb'"[^"\\]*(?:\\.[^"\\]*)*"|[\[{]|[\]}]', re.DOTALL)
_SURROGATE = re.compile("[\ud800-\udfff]")


def refuse_depth(raw: bytes, loc: Loc) -> None:
    """Two counts for most bodies; the brackets are followed only where there are enough of them."""
    if raw.count(b"[") + raw.count(b"{") <= DEEPEST:
        return
    depth = 0
    for token in _TOKEN.finditer(raw):
        start = token.group()[0]
        if start in b"[{":
            depth += 1
            if depth > DEEPEST:
                text = f"Nested too deeply; at most {DEEPEST} levels are read."
                raise Invalid([Problem(loc, text, "json_invalid")])
        elif start in b"]}":
            depth -= 1


def refuse_nul(value: object, loc: Loc) -> None:
    """NUL is valid JSON and no valid text for Postgres: name the place."""
    for place, leaf in _leaves(value, loc):
        if isinstance(leaf, str) and "\x00" in leaf:
            raise Invalid([Problem(place, "Text must not hold NUL.", "value_error")])


class _Number(str):
    """A number as it was written."""


def faults_of(raw: bytes, loc: Loc) -> list[Problem]:
    """The texts and numbers for which the decoder refused to read `raw`; none where it is no JSON at all."""
    try:
        value = json.loads(raw, parse_float=_Number, parse_int=_Number)
    except (ValueError, RecursionError):
        return []
    problems = []
    for place, leaf in _leaves(value, loc):
        if isinstance(leaf, _Number):
            if _is_out_of_range(leaf):
                problems.append(Problem(place, "Number out of range.", "number_out_of_range"))
        elif isinstance(leaf, str) and _SURROGATE.search(leaf):
            problems.append(Problem(place, "Text must not hold a lone surrogate.", "value_error"))
    return problems


def _is_out_of_range(text: str) -> bool:
    if text.lstrip("-").isdigit():
        return len(text.lstrip("-")) > sys.get_int_max_str_digits() > 0
    return math.isinf(float(text))


def _leaves(value: Any, loc: Loc) -> Iterator[tuple[Loc, Any]]:
    """Every text, number, … with its place, keys too. Walked with a list, never with the call stack."""
    stack: list[tuple[Any, Loc]] = [(value, loc)]
    while stack:
        item, place = stack.pop()
        if isinstance(item, dict):
            for key, inner in item.items():
                inside = (*place, _SURROGATE.sub("\ufffd", str(key)).replace("\x00", "\\u0000"))
                yield inside, str(key)
                stack.append((inner, inside))
        elif isinstance(item, list):
            stack.extend((inner, (*place, index)) for index, inner in enumerate(item))
        else:
            yield place, item
