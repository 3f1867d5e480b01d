"""A hostile body costs a small constant times its size, in time, in memory and in the response."""

import gc
import time
import tracemalloc
from collections.abc import Callable
from typing import Any

import pytest
from msgspec import field

from shared.errors import Invalid
from shared.http.decoding import decode_body
from shared.http.error_mapping import response_for
from shared.http.json_limits import MAX_DEPTH
from shared.wire import Body

KIB = 1024
# The maximum cost of a body, in plain Python loops over its bytes. A walk that called functions for each
# value took seven, and nobody else was served meanwhile: 170 ms on a busy core.
MOST_LOOPS = 3.0
MOST_BYTES_PER_BYTE = 60


class Free(Body, frozen=True, kw_only=True):
    metadata: dict[str, Any] = field(default_factory=dict)


def nested(depth: int, inside: bytes) -> bytes:
    return b'{"metadata":' + b'{"a":' * (depth - 3) + b"[" + inside + b"]" + b"}" * (depth - 2)


def repeated(part: bytes, size: int) -> bytes:
    return b",".join([part] * (size // (len(part) + 1)))


HOSTILE: dict[str, Callable[[int], bytes]] = {
    "an endless text of escaped quotes, then brackets": lambda size: (
        b'"' + b'\\"' * (size // 2) + b"[" * (MAX_DEPTH + 1)
    ),
    "escaped backslashes without an end": lambda size: b'"' + b"\\\\" * (size // 2) + b"[" * (MAX_DEPTH + 1),
    "texts that never end": lambda size: (b'"[\\' * (size // 3)) + b"[" * (MAX_DEPTH + 1),
    "brackets side by side": lambda size: b'{"metadata":{"a":[' + repeated(b"[]", size) + b"]}}",
    "closing brackets": lambda size: b"]" * size + b"[" * (MAX_DEPTH + 1),
    "lone surrogates at the greatest depth": lambda size: nested(MAX_DEPTH, repeated(b'"\\ud800"', size)),
    "numbers past any double at the greatest depth": lambda size: nested(MAX_DEPTH, repeated(b"1e999", size)),
    "one lone surrogate behind small values": lambda size: nested(
        MAX_DEPTH, b'"\\ud800",' + repeated(b"1", size)
    ),
    "NUL behind small values": lambda size: nested(MAX_DEPTH, b'"\\u0000",' + repeated(b"1", size)),
    "faults below one long key": lambda size: (
        b'{"metadata":{"%s":[%s]}}' % (b"k" * (size // 2), repeated(b'"\\ud800"', size // 2))
    ),
    "unknown fields": lambda size: b"{" + b",".join(b'"%d":1' % number for number in range(size // 9)) + b"}",
    "a number without an end": lambda size: b'{"metadata":{"a":' + b"9" * size + b"}}",
    "a fraction without an end": lambda size: b'{"metadata":{"a":1.' + b"1" * size + b"e400}}",
}


def refusal_of(raw: bytes) -> bytes:
    try:
        decode_body(Free, raw)
    except Invalid as problem:
        return response_for(problem, "r").body
    return b""


def seconds(work: Callable[[], object]) -> float:
    started = time.process_time()
    work()
    return time.process_time() - started


def loop_over(raw: bytes) -> None:
    for byte in raw:
        isinstance(byte, str)


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_body_takes_a_bounded_time_memory_and_answer(name: str) -> None:
    """The largest body that a route reads. The path of a value is built only for a problem."""
    raw = HOSTILE[name](255 * KIB)
    gc.collect()
    gc.disable()  # the server collects rarely, too
    try:
        loops = [(seconds(lambda: refusal_of(raw)), seconds(lambda: loop_over(raw))) for _ in range(5)]
    finally:
        gc.enable()
    assert min(cost / loop for cost, loop in loops) < MOST_LOOPS
    tracemalloc.start()
    try:
        response = refusal_of(raw)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < MOST_BYTES_PER_BYTE * len(raw)
    assert len(response) < 3 * len(raw) + KIB


def test_a_large_body_that_cannot_be_decoded_is_one_problem() -> None:
    """Finding every unreadable value took 30 ms, in which the service answered nobody else."""
    small = HOSTILE["lone surrogates at the greatest depth"](20 * KIB)
    large = HOSTILE["lone surrogates at the greatest depth"](40 * KIB)
    types = []
    for raw in (small, large):
        with pytest.raises(Invalid) as caught:
            decode_body(Free, raw)
        types.append({problem.type for problem in caught.value.problems})
    assert types == [{"value_error"}, {"json_invalid"}]
