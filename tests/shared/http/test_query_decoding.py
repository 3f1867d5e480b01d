"""Query strings become structs, or problems with the parameter's name; an integral float is an integer."""

from datetime import UTC, datetime, timedelta
from typing import Annotated, Any

import pytest
from msgspec import Meta, Raw, Struct, field

from shared.errors import Invalid
from shared.http.body_problems import with_whole_numbers
from shared.http.decoding import decode_body, decode_query
from shared.wire import Body, Id, Instant, PageQuery


class Times(PageQuery, frozen=True, kw_only=True):
    at: Instant | None = None
    location_id: Id | None = None
    active: bool = True


ID = "0B8A3C52-6DFE-4F7A-9F1A-3C8B57F0F3AD"


@pytest.mark.parametrize(
    ("text", "hours"),
    [
        ("2026-03-08T10:00:00Z", 0),
        ("2026-03-08T10:00:00%2B02:00", 2),
        ("2026-03-08T10:00:00+02:00", 2),
        ("2026-03-08T10:00:00-05:00", -5),
    ],
)
def test_a_time_may_carry_any_offset(text: str, hours: int) -> None:
    """A plus that was not percent-encoded arrives as a space and is still understood."""
    at = decode_query(Times, f"at={text}".encode()).at
    assert at == datetime(2026, 3, 8, 10, tzinfo=UTC) - timedelta(hours=hours)


@pytest.mark.parametrize(
    ("query", "loc", "type_"),
    [
        (b"at=2026-03-08T10:00:00", ("query", "at"), "timezone_aware"),
        (b"at=yesterday", ("query", "at"), "datetime_parsing"),
        (b"active=maybe", ("query", "active"), "bool_parsing"),
        (b"limit=201", ("query", "limit"), "too_large"),
        (b"location_id=%00", ("query", "location_id"), "value_error"),
        (b"location_id=%ff", ("query",), "value_error"),
    ],
)
def test_a_bad_query_value_is_told_at_its_name(query: bytes, loc: tuple[str, ...], type_: str) -> None:
    """422 at ["query", name]."""
    with pytest.raises(Invalid) as caught:
        decode_query(Times, query)
    assert (caught.value.problems[0].loc, caught.value.problems[0].type) == (loc, type_)


class Numbers(PageQuery, frozen=True, kw_only=True):
    after: Annotated[int, Meta(ge=0, le=2**62)] | None = None


@pytest.mark.parametrize(("number", "taken"), [(2**62, True), (2**62 + 1, False), (2**63, False)])
def test_a_number_is_taken_up_to_its_bound(number: int, taken: bool) -> None:
    """Beyond it the message names the bound, not the type."""
    if taken:
        assert decode_query(Numbers, f"after={number}".encode()).after == number
        return
    with pytest.raises(Invalid) as caught:
        decode_query(Numbers, f"after={number}".encode())
    assert caught.value.problems[0].type == "too_large"


def test_a_query_that_comes_again_is_decoded_alike() -> None:
    """A decoded query is cached, for its own type only; a refused one is decoded again."""
    raw = f"limit=7&location_id={ID}".encode()
    for _ in range(2):
        assert decode_query(Times, raw) == Times(limit=7, location_id=ID.lower())
        assert decode_query(PageQuery, raw) == PageQuery(limit=7)
        with pytest.raises(Invalid):
            decode_query(Times, b"limit=0")
    long = b"limit=7&unknown=" + b"x" * 10_000
    assert decode_query(Times, long) == Times(limit=7)


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
    ("text", "problem"),
    [
        (b'{"count": 1.5}', "int_parsing"),
        (b'{"count": 101.0}', "too_large"),
        (b'{"lines": [{"order": 1e300}]}', "int_parsing"),
        (b'{"count": "1.0"}', "int_parsing"),
    ],
    ids=["fraction", "bound", "huge", "text"],
)
def test_other_numbers_are_refused_as_before(text: bytes, problem: str) -> None:
    """Bounds apply to the integer; a fraction, a huge number and a string are refused."""
    with pytest.raises(Invalid) as refused:
        decode_body(Order, text)
    assert [one.type for one in refused.value.problems] == [problem]


def test_one_right_and_one_wrong_number_give_one_problem() -> None:
    """The integral float next to a wrong field is not reported as a problem."""
    with pytest.raises(Invalid) as refused:
        decode_body(Order, b'{"count": 1.0, "lines": [{"order": 2.0}, {"order": "x"}], "typo": 1}')
    assert [one.loc for one in refused.value.problems] == [("body", "lines", 1, "order"), ("body", "typo")]


def test_numbers_that_are_text_keep_their_digits_whatever_their_exponent() -> None:
    """Forms pass JSON on as it was sent; a huge exponent is not written out."""
    texts = [b"2.0", b"9007199254740993.0", b"1E2", b"2.5", b"1e1000000", b"-1e-1000000"]
    first, second, third, *others = with_whole_numbers(list[int], [Raw(text) for text in texts])
    assert [first, second, third] == [2, 9007199254740993, 100]
    assert [bytes(other) for other in others] == texts[3:]
