"""Every place of a body, query or import line that can hold a text, with a hostile one, and its CPU time.

The places are read from the structs, so that a new field is among them by itself.
"""

import re
import time
from collections.abc import Awaitable, Callable, Iterator
from datetime import datetime
from decimal import Decimal
from enum import Enum
from types import UnionType
from typing import Annotated, Any, Literal, NamedTuple, Union, get_args, get_origin

import msgspec
from msgspec import Meta, Struct, UnsetType

ID = "5f0c4c6e-3b5d-4d0e-9a53-0d7f5a6d9b11"


class Hostile(NamedTuple):
    """A text of any size: `part` repeated between `head` and `tail`."""

    head: str
    part: str
    tail: str = ""

    def of(self, characters: int) -> str:
        """Exactly so many characters, if that is enough for both ends."""
        room = max(0, characters - len(self.head) - len(self.tail))
        return (self.head + (self.part * (room // len(self.part) + 1))[:room] + self.tail)[:characters]

    def of_bytes(self, size: int) -> str:
        """About so many bytes in UTF-8."""
        return self.of(size * len(self.part) // len(self.part.encode()))


TEXTS = (
    Hostile("a", "\u0301\u0323", "@x.example"),
    Hostile("a@x", "\u0301\u0323", ".example"),
    Hostile("a@", "中", ".example"),
    Hostile("a@", "a.", "e"),
    Hostile("a@", "a-", ".example"),
    Hostile("", "@", ".example"),
    Hostile("", '\\"', '"@x.example'),
    Hostile("", "\ufdfa"),
    Hostile("", "a"),
    Hostile("", " ", "!"),
    Hostile("", "-_", "!"),
    Hostile("+", "9"),
    Hostile("+44 20 7946 0018 ext", "x", "1"),
    Hostile("", "1-"),
    Hostile("-", "9", "e400"),
    Hostile("0.", "0", "1e999999"),
    Hostile("", "[{", "]"),
    Hostile("2026-01-01T00:00:00.", "1", "Z"),
    Hostile("", "T00:00:00.1 ", "00:00"),
    Hostile("https://", "a.", "/"),
    Hostile("https://", "ü\u0301.", "example/"),
    Hostile("https://a.example/", "%4", "?"),
    Hostile("https://[", ":", "]"),
    Hostile("", f"{ID},", "!"),
    Hostile("Europe/", "../", "London"),
    Hostile("data:", ";a=b", ",x"),
    Hostile("data:image/png;base64,", "QUJD", "="),
    Hostile("", " - at `$", "`"),
)

# Enough for a place that takes no text at all: it is refused for its type.
REFUSED_TEXTS = (TEXTS[0], Hostile("", '\\"', '"@x.example'), Hostile("", " - at `$", "`"))
TEXT_TYPES = (str, Any, datetime, Decimal)

# The first that a type accepts stands for every field that a case is not about.
_PLAIN: tuple[Any, ...] = (
    *("a@x.example", ID, "a", "USD", "1.00", "+442079460018", "2026-01-01T00:00:00Z"),
    *(1, 1_000_000, 1.5, False, [], {}, [ID], ["a"]),
)


def plain_value(kind: Any) -> Any:
    """The smallest valid value."""
    struct = next((part for part in alternatives(kind) if _is_struct(part)), None)
    if struct is not None:
        return plain_object(struct)
    chosen = [value for part in alternatives(kind) for value in _choices(part)]
    for value in (*chosen, *_PLAIN):
        try:
            msgspec.convert(value, kind)
        except msgspec.ValidationError:
            continue
        return value
    raise AssertionError(f"no plain value for {kind}")


def plain_object(kind: type[Struct]) -> dict[str, Any]:
    fields = msgspec.structs.fields(kind)
    config = kind.__struct_config__
    tag = {config.tag_field: config.tag} if config.tag_field else {}
    return tag | {field.encode_name: plain_value(field.type) for field in fields if field.required}


def filled(kind: Any, text: Hostile, size: int) -> Iterator[tuple[str, Any]]:
    """Each place's name, and a value of this type with the text there: too long, and as long as allowed."""
    parts = alternatives(kind)
    if text in REFUSED_TEXTS or any(part in TEXT_TYPES for part in parts):
        yield "", text.of_bytes(size)
    longest = _longest(kind)
    if longest is not None and longest < size:
        allowed = {text.of(longest), text.of_bytes(longest)}
        yield from ((f" of {len(one)}", one) for one in sorted(allowed))
    for part in parts:
        if _is_struct(part):
            for field in msgspec.structs.fields(part):
                for place, value in filled(field.type, text, size):
                    yield f".{field.encode_name}{place}", plain_object(part) | {field.encode_name: value}
            if text in REFUSED_TEXTS:
                yield ".{}", plain_object(part) | {text.of_bytes(size): ""}
        elif get_origin(part) is list:
            for place, value in filled(get_args(part)[0], text, size):
                yield f"[]{place}", [value]
                if (count := size // len(msgspec.json.encode(value))) > 1:
                    yield f"[…]{place}", [value] * count
        elif get_origin(part) is dict or part is Any:
            yield "{}", {text.of_bytes(size): text.of(9)}
            yield "{…}", {f"{number}{text.of(20)}": text.of(40) for number in range(size // 80)}


def alternatives(kind: Any) -> list[Any]:
    """The plain types behind `Annotated` and unions."""
    if get_origin(kind) is Annotated:
        return alternatives(get_args(kind)[0])
    if get_origin(kind) in (Union, UnionType):
        return [found for part in get_args(kind) for found in alternatives(part)]
    return [] if kind in (type(None), UnsetType) else [kind]


def _choices(part: Any) -> list[Any]:
    if get_origin(part) is Literal:
        return list(get_args(part))
    return [one.value for one in part] if isinstance(part, type) and issubclass(part, Enum) else []


def _longest(kind: Any) -> int | None:
    """The greatest length that any part of the type's declaration allows for a text."""
    metas = [meta for meta in getattr(kind, "__metadata__", ()) if isinstance(meta, Meta)]
    if str in alternatives(kind):
        found = [meta.max_length for meta in metas if meta.max_length is not None]
        found += [inner for part in get_args(kind) if (inner := _longest(part)) is not None]
        return max(found, default=None)
    return None


def _is_struct(kind: Any) -> bool:
    return isinstance(kind, type) and issubclass(kind, Struct)


def parameters_of(path: str) -> list[str]:
    return re.findall(r"\{(\w+)\}", path)


SIZE = 32 * 1024
# One text takes a few milliseconds, a body full of texts a few times as much. Either grows fourfold.
CHEAP = 0.03
BUDGET, FULL_BUDGET = 0.1, 0.6
GROWTH, NOISE = 8, 0.03

# The cases of a text and a size, by name, and what is done with each.
Cases = Callable[[Hostile, int], Iterator[tuple[str, Any]]]
Use = Callable[[Any], Awaitable[object]]


async def cpu_seconds(use: Use, case: Any) -> float:
    started = time.process_time()
    await use(case)
    return time.process_time() - started


async def too_dear(cases: Cases, use: Use) -> list[tuple[str, Hostile, float, float]]:
    """With the CPU time of a quarter of the size, and of the size. The best of three runs counts."""
    found = []
    for text in TEXTS:
        for name, case in cases(text, SIZE):
            for _ in range(3):
                dear = await cpu_seconds(use, case)
                if dear < CHEAP:
                    break
                cheap = await cpu_seconds(use, dict(cases(text, SIZE // 4))[name])
                if dear < (FULL_BUDGET if "…" in name else BUDGET) and dear < GROWTH * cheap + NOISE:
                    break
            else:
                found.append((name, text, round(cheap, 3), round(dear, 3)))
    return found
