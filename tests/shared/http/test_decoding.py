"""Bodies and query strings become structs, or problems with their locations and types."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from enum import Enum
from typing import Annotated, Any
from uuid import UUID

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import Meta, Raw, Struct, field

from shared.errors import Invalid, Problem
from shared.http.body_problems import _KINDS, problem_at, with_whole_numbers
from shared.http.decoding import decode_body, decode_query
from shared.http.json_limits import MAX_DEPTH
from shared.wire import Body, Id, Instant, PageQuery


class Small(Body, frozen=True, kw_only=True):
    id: Id
    name: str
    count: Annotated[int, Meta(ge=1)] = 1
    tags: tuple[str, ...] = ()


class Page(PageQuery, frozen=True, kw_only=True):
    at: Instant | None = None
    location_id: Id | None = None
    active: bool = True


ID = "0B8A3C52-6DFE-4F7A-9F1A-3C8B57F0F3AD"


def test_ids_are_lower_case_after_decoding() -> None:
    """Ids are compared as text; some languages print them in capitals."""
    decoded = decode_body(Small, f'{{"id": "{ID}", "name": "n"}}'.encode())
    assert decoded.id == ID.lower()
    assert decode_query(Page, f"location_id={ID}".encode()).location_id == ID.lower()


def refused(kind: Any, raw: bytes) -> Sequence[Problem]:
    """As a query string or a body, whichever the type is for."""
    with pytest.raises(Invalid) as caught:
        (decode_query if issubclass(kind, PageQuery) else decode_body)(kind, raw)
    return caught.value.problems


def test_nul_is_refused_where_it_stands_but_not_as_plain_text() -> None:
    r"""An escaped backslash before u0000 is six harmless letters."""
    [problem] = refused(Small, f'{{"id": "{ID}", "name": "", "tags": ["", "\\u0000"]}}'.encode())
    assert (problem.loc, problem.type) == (("body", "tags", 1), "value_error")
    assert decode_body(Small, f'{{"id": "{ID}", "name": "\\\\u0000"}}'.encode()).name == "\\u0000"


@given(st.binary(max_size=200))
def test_any_bytes_decode_or_are_invalid(raw: bytes) -> None:
    """No input raises anything else."""
    for decode in (lambda: decode_body(Small, raw), lambda: decode_query(Page, raw)):
        try:
            decode()
        except Invalid as problem:
            assert problem.problems


class Span(Body, frozen=True, kw_only=True):
    closes_at: Instant | None = None


class Spans(Body, frozen=True, kw_only=True):
    at: Instant
    settings: Span


def test_the_first_and_the_last_instant_are_taken() -> None:
    """Any offset: the instant counts, not the year that is written."""
    raw = b'{"at": "1969-12-31T19:00:00-05:00", "settings": {"closes_at": "2999-12-31T23:59:59.999999Z"}}'
    assert decode_body(Spans, raw).at == datetime(1970, 1, 1, tzinfo=UTC)


class Free(Body, frozen=True, kw_only=True):
    metadata: dict[str, Any] = field(default_factory=dict)


def test_nesting_is_read_to_its_limit() -> None:
    """Brackets inside strings and side by side do not count."""

    def nested(depth: int) -> bytes:
        return b'{"metadata":%s%s}' % (b'{"[{":' * (depth - 2) + b"[", b"]" + b"}" * (depth - 2))

    decode_body(Free, nested(MAX_DEPTH))
    refused(Free, nested(MAX_DEPTH + 1))
    wide = b'{"metadata":{"a":[%s]}}' % b",".join([b"[]"] * 5_000)
    assert len(decode_body(Free, wide).metadata["a"]) == 5_000


@pytest.mark.parametrize(
    ("text", "hours"),
    [
        ("2026-03-08T10:00:00%2B02:00", 2),
        ("2026-03-08T10:00:00+02:00", 2),
        ("2026-03-08T10:00:00-05:00", -5),
    ],
)
def test_a_time_may_carry_any_offset(text: str, hours: int) -> None:
    """A plus that was not percent-encoded arrives as a space and is still understood."""
    at = decode_query(Page, f"at={text}".encode()).at
    assert at == datetime(2026, 3, 8, 10, tzinfo=UTC) - timedelta(hours=hours)


class Numbers(PageQuery, frozen=True, kw_only=True):
    after: Annotated[int, Meta(ge=0, le=2**62)] | None = None


def test_a_number_is_taken_up_to_its_bound() -> None:
    """Beyond it the problem is the bound, not the type."""
    assert decode_query(Numbers, f"after={2**62}".encode()).after == 2**62
    for number in (2**62 + 1, 2**63):
        assert refused(Numbers, f"after={number}".encode())[0].type == "too_large"


Count = Annotated[int, Meta(ge=0, le=100)]


class Line(Struct):
    order: int
    share: float = 0.0
    free: Any = None


class Order(Body, frozen=True, kw_only=True):
    count: Count | None = None
    lines: list[Line] = field(default_factory=list)


def test_integral_floats_are_integers_at_any_depth() -> None:
    """As JSON Schema says; what may be a float or anything stays as it was sent."""
    body = decode_body(Order, b'{"count": 1e1, "lines": [{"order": -2.0, "share": 3.0, "free": 4.0}]}')
    assert body == Order(count=10, lines=[Line(order=-2, share=3.0, free=4.0)])
    assert isinstance(body.lines[0].order, int) and isinstance(body.lines[0].free, float)


@pytest.mark.parametrize(
    ("kind", "raw", "loc", "told"),
    [
        (Free, b'{"metadata": {"a": [0, {"b.c": 1e400}]}}', "body metadata a 1 b.c", "number_out_of_range"),
        (Free, b'{"metadata": {"n": -%s}}' % (b"9" * 5_000), "body metadata n", "number_out_of_range"),
        (Free, b'{"metadata": {"t": "\\ud800"}}', "body metadata t", "value_error"),
        (Free, b'{"metadata": {"t": {"\\udc00x": 1}}}', "body metadata t \ufffdx", "value_error"),
        (Page, b"at=2026-03-08T10:00:00", "query at", "timezone_aware"),
        (Page, b"active=maybe", "query active", "bool_parsing"),
        (Page, b"location_id=%00", "query location_id", "value_error"),
        (Page, b"location_id=%ff", "query", "value_error"),
        (Order, b'{"count": 1.5}', "body count", "int_parsing"),
        (Order, b'{"count": 101.0}', "body count", "too_large"),
        (Order, b'{"lines": [{"order": 1e300}]}', "body lines 0 order", "int_parsing"),
        (Order, b'{"count": "1.0"}', "body count", "int_parsing"),
        (
            Order,
            b'{"count": 1.0, "lines": [{"order": 2.0}, {"order": "x"}]}',
            "body lines 1 order",
            "int_parsing",
        ),
    ],
)
def test_what_is_refused_is_told_at_its_place(kind: Any, raw: bytes, loc: str, told: str) -> None:
    """msgspec writes `...` for a free-form key and calls half a surrogate pair truncated input.

    Bounds apply to the integer that a float stands for; a fraction, a huge number and a string are none.
    """
    [problem] = refused(kind, raw)
    assert ([*problem.loc], problem.type) == ([int(x) if x.isdigit() else x for x in loc.split()], told)
    assert "surrogate" in problem.msg or "\\ud" not in raw.decode()


def test_numbers_that_are_text_keep_their_digits_whatever_their_exponent() -> None:
    """Forms pass JSON on as it was sent; a huge exponent is not written out."""
    texts = [b"2.0", b"9007199254740993.0", b"1E2", b"2.5", b"1e1000000", b"-1e-1000000"]
    first, second, third, *others = with_whole_numbers(list[int], [Raw(text) for text in texts])
    assert [first, second, third] == [2, 9007199254740993, 100]
    assert [bytes(other) for other in others] == texts[3:]


class Colour(Enum):
    RED = "red"


class Strict(Struct, forbid_unknown_fields=True):
    name: str = ""


class Needy(Struct):
    name: str


Aware = Annotated[datetime, Meta(tz=True)]
SENTENCES: list[tuple[Any, bytes, str, str]] = [
    (Aware, b'"2026-03-08T10:00:00"', "Expected `datetime` with a timezone component", "timezone_aware"),
    (datetime, b'"yesterday"', "Invalid RFC3339 encoded datetime", "datetime_parsing"),
    (datetime, b"1", "Expected `datetime`, got `int`", "datetime_parsing"),
    (UUID, b'"x"', "Invalid UUID", "uuid_parsing"),
    (Id, b'"x"', "Expected `str` matching regex '^[0-9a-fA-F]{8}-", "uuid_parsing"),
    (Annotated[str, Meta(pattern="^a")], b'"b"', "Expected `str` matching regex", "string_pattern_mismatch"),
    (Annotated[str, Meta(min_length=2)], b'"b"', "Expected `str` of length >= 2", "string_too_short"),
    (Annotated[str, Meta(max_length=2)], b'"bcd"', "Expected `str` of length <= 2", "string_too_long"),
    (Annotated[list[int], Meta(min_length=1)], b"[]", "Expected `array` of length >= 1", "too_short"),
    (Annotated[list[int], Meta(max_length=1)], b"[1, 2]", "Expected `array` of length <= 1", "too_long"),
    (Annotated[int, Meta(ge=1)], b"0", "Expected `int` >= 1", "too_small"),
    (Annotated[int, Meta(le=1)], b"2", "Expected `int` <= 1", "too_large"),
    (Colour, b'"blue"', "Invalid enum value 'blue'", "enum"),
    (float, b"1e999", "Number out of range", "number_out_of_range"),
    (str, b"1", "Expected `str`, got `int`", "string_type"),
    (str | None, b"1", "Expected `str | null`, got `int`", "string_type"),
    (int, b'"1"', "Expected `int`, got `str`", "int_parsing"),
    (bool, b"1", "Expected `bool`, got `int`", "bool_parsing"),
    (float, b'"1"', "Expected `float`, got `str`", "float_parsing"),
    (Needy, b"1", "Expected `object`, got `int`", "object_type"),
    (list[int], b"1", "Expected `array`, got `int`", "list_type"),
    (Needy, b"{}", "Object missing required field `name`", "missing"),
    (Strict, b'{"other": 1}', "Object contains unknown field `other`", "extra_forbidden"),
]


@pytest.mark.parametrize(("kind", "raw", "sentence", "told"), SENTENCES)
def test_each_sentence_of_msgspec_has_its_type(kind: Any, raw: bytes, sentence: str, told: str) -> None:
    """Partners' programs use the type, so it must not change with a library's wording."""
    with pytest.raises(msgspec.ValidationError) as caught:
        msgspec.json.decode(raw, type=kind)
    assert str(caught.value).startswith(sentence)
    assert problem_at(caught.value, ("body",)).type == told


def test_no_type_is_without_a_sentence_that_proves_it() -> None:
    """A new kind needs the message that it is derived from."""
    assert {kind for _, kind in _KINDS} <= {told for *_, told in SENTENCES}
