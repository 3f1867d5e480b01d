"""Requests designed to be expensive: bodies, queries and headers of any size, and their CPU time."""

from collections.abc import Callable, Iterator
from typing import Any

import msgspec
from msgspec import Struct

from bench import cores
from tests.shared.http.test_hostile_json import HOSTILE

Body = Callable[[int], bytes]


def cpu_seconds(pid: int) -> float:
    """Of the process so far. Wall time would include other load on the machine."""
    return cores.cpu_seconds([pid])


# Texts that are slow to match are in services/test_work_per_text.py, for every field.
VALUES: dict[str, Callable[[int], Any]] = {
    "a list of numbers": lambda size: [1] * (size // 2),
    "a list of texts": lambda size: [str(number) for number in range(size // 9)],
    "a list of empty objects": lambda size: [{}] * (size // 4),
    "an object with many keys": lambda size: {f"k{number}": number for number in range(size // 16)},
    "nested objects": lambda size: _nested(size // 8),
}


def _nested(count: int) -> Any:
    value: Any = {}
    for _ in range(min(count, 400)):
        value = {"a": value}
    return [value] * max(1, count // 400)


def bodies_for(kind: Any) -> Iterator[tuple[str, Body]]:
    """Malformed JSON bodies, and bodies that fill every field of the struct with a large value."""
    yield from HOSTILE.items()
    is_struct = isinstance(kind, type) and issubclass(kind, Struct)
    names = [field.encode_name for field in msgspec.structs.fields(kind)] if is_struct else ["data"]
    for name, value in VALUES.items():
        yield name, _filled(names, value)


def _filled(names: list[str], value: Callable[[int], Any]) -> Body:
    return lambda size: msgspec.json.encode({name: value(size // len(names)) for name in names})


QUERIES: dict[str, Callable[[int], str]] = {
    "many parameters": lambda size: "&".join(["a=1"] * (size // 4)),
    "empty parameters": lambda size: "&" * size,
    "a long cursor": lambda size: "cursor=" + "a" * size,
    "an encoded cursor": lambda size: "cursor=" + "%41" * (size // 3),
    "a long limit": lambda size: "limit=" + "1" * size,
    "a long instant": lambda size: "starts_after=2026-01-01T00:00:00." + "1" * size + " 00:00",
    "instants": lambda size: "starts_after=" + "T00:00:00.1" * (size // 11),
}
HEADERS = ("Idempotency-Key", "X-Request-Id", "traceparent", "X-API-Version", "If-None-Match", "Content-Type")
