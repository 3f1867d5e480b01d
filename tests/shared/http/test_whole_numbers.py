"""An integral float is accepted as an integer, wherever an integer is expected."""

from typing import Annotated, Any

import pytest
from msgspec import Meta, Raw, Struct, field

from shared.errors import Invalid
from shared.http.body_problems import with_whole_numbers
from shared.http.decoding import decode_body
from shared.wire import Body

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
