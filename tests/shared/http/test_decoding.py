"""Bodies and query strings become structs, or problems with their locations."""

import re
from datetime import UTC, datetime, timedelta
from typing import Annotated, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import Meta, Raw, Struct, field

from shared.errors import Invalid
from shared.http.body_problems import with_whole_numbers
from shared.http.decoding import decode_body, decode_query
from shared.http.json_limits import MAX_DEPTH
from shared.transfer.lines import ImportLine, decode_line
from shared.wire import Body, Email, Id, Instant, PageQuery


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


def problems(raw: bytes) -> set[tuple[tuple[str | int, ...], str]]:
    with pytest.raises(Invalid) as caught:
        decode_body(Small, raw)
    return {(problem.loc, problem.type) for problem in caught.value.problems}


def test_ids_are_lower_case_after_decoding() -> None:
    """Ids are compared as text; some languages print them in capitals."""
    decoded = decode_body(Small, f'{{"id": "{ID}", "name": "n"}}'.encode())
    assert decoded.id == ID.lower()
    assert decode_query(Page, f"location_id={ID}".encode()).location_id == ID.lower()


def test_nul_is_refused_where_it_stands_but_not_as_plain_text() -> None:
    r"""An escaped backslash before u0000 is six harmless letters."""
    assert problems(f'{{"id": "{ID}", "name": "a\\u0000"}}'.encode()) == {(("body", "name"), "value_error")}
    assert problems(f'{{"id": "{ID}", "name": "", "tags": ["", "\\u0000"]}}'.encode()) == {
        (("body", "tags", 1), "value_error")
    }
    assert decode_body(Small, f'{{"id": "{ID}", "name": "\\\\u0000"}}'.encode()).name == "\\u0000"


@given(st.binary(max_size=200))
def test_any_bytes_decode_or_are_invalid(raw: bytes) -> None:
    """No input raises anything else."""
    for decode in (lambda: decode_body(Small, raw), lambda: decode_query(Page, raw)):
        try:
            decode()
        except Invalid as problem:
            assert problem.problems


FAR = [
    "0001-01-01T00:00:00+14:00",
    "9999-12-31T23:59:59-14:00",
    "1969-12-31T23:59:59Z",
    "3000-01-01T00:00:00Z",
]


class Span(Body, frozen=True, kw_only=True):
    closes_at: Instant | None = None


class Spans(Body, frozen=True, kw_only=True):
    at: Instant = datetime(2026, 1, 1, tzinfo=UTC)
    settings: Span = Span()
    more: tuple[Span, ...] = ()


@pytest.mark.parametrize("text", FAR)
def test_an_instant_that_nothing_can_calculate_with_is_refused_wherever_it_stands(text: str) -> None:
    """Outside 1970 to 3000: a row that holds one could never be read again. Bodies and import lines alike."""
    closing = f'{{"closes_at": "{text}"}}'
    raw = f'{{"at": "{text}", "settings": {closing}, "more": [{{}}, {closing}]}}'
    with pytest.raises(Invalid) as caught:
        decode_body(Spans, raw.encode())
    assert [(problem.loc, problem.type) for problem in caught.value.problems] == [
        (("body", "at"), "datetime_out_of_range"),
        (("body", "settings", "closes_at"), "datetime_out_of_range"),
        (("body", "more", 1, "closes_at"), "datetime_out_of_range"),
    ]
    with pytest.raises(ValueError, match="at: An instant lies between the years 1970 and 3000"):
        decode_line(Spans, ImportLine(number=7, studio_id=ID, resource=Raw(raw.encode())))


def test_the_first_and_the_last_instant_are_taken() -> None:
    """Any offset: the instant counts, not the year that is written."""
    raw = b'{"at": "1969-12-31T19:00:00-05:00", "settings": {"closes_at": "2999-12-31T23:59:59.999999Z"}}'
    assert decode_body(Spans, raw).at == datetime(1970, 1, 1, tzinfo=UTC)


class Free(Body, frozen=True, kw_only=True):
    metadata: dict[str, Any] = field(default_factory=dict)


@pytest.mark.parametrize(
    ("raw", "loc", "kind"),
    [
        (b'{"metadata": {"a": [0, {"b.c": 1e400}]}}', ("metadata", "a", 1, "b.c"), "number_out_of_range"),
        (b'{"metadata": {"n": -%s}}' % (b"9" * 5_000), ("metadata", "n"), "number_out_of_range"),
        (b'{"metadata": {"t": "\\ud800"}}', ("metadata", "t"), "value_error"),
        (b'{"metadata": {"t": {"\\udc00x": 1}}}', ("metadata", "t", "\ufffdx"), "value_error"),
    ],
)
def test_what_cannot_be_kept_is_named_by_its_own_key(raw: bytes, loc: tuple[Any, ...], kind: str) -> None:
    """msgspec writes `...` for a free-form key and calls half a surrogate pair truncated input."""
    with pytest.raises(Invalid) as caught:
        decode_body(Free, raw)
    (problem,) = caught.value.problems
    assert (problem.loc, problem.type) == (("body", *loc), kind)
    assert "surrogate" in problem.msg or "\\ud" not in raw.decode()


def test_nesting_is_read_to_its_limit_and_the_limit_is_said() -> None:
    """Brackets inside strings do not count; the message has the actual limit."""
    for depth, kinds in ((MAX_DEPTH, None), (MAX_DEPTH + 1, "json_invalid"), (100_000, "json_invalid")):
        raw = b'{"metadata":%s%s}' % (b'{"[{":' * (depth - 2) + b"[", b"]" + b"}" * (depth - 2))
        if kinds is None:
            decode_body(Free, raw)
            continue
        with pytest.raises(Invalid) as caught:
            decode_body(Free, raw)
        assert (caught.value.problems[0].type, str(MAX_DEPTH) in caught.value.problems[0].msg) == (
            kinds,
            True,
        )
    wide = b'{"metadata":{"a":[%s]}}' % b",".join([b"[]"] * 5_000)
    assert len(decode_body(Free, wide).metadata["a"]) == 5_000


class Contact(Body, frozen=True, kw_only=True):
    email: Email
    name: str
    copies: tuple[Email, ...] = ()
    at: Instant | None = None
    inner: Small | None = None


@pytest.mark.parametrize(
    "raw",
    [
        b'{"email": 5, "name": ',
        b'{"email": 5} {',
        b'{"unknown": 1, "name": "x"',
        b'{"name": "\\ud800", "copies": [NaN]}',
        b'{"email": 5, "name": 01}',
        '{"name": "\ud800"}'.encode("utf-16", "surrogatepass"),
        b"\xff{}",
        b"",
        b"[",
    ],
)
def test_broken_json_is_json_invalid_and_nothing_else(raw: bytes) -> None:
    """Whatever other problem the decoder found first."""
    with pytest.raises(Invalid) as caught:
        decode_body(Contact, raw)
    assert [(problem.loc, problem.type) for problem in caught.value.problems] == [(("body",), "json_invalid")]


def test_structure_and_values_are_told_together() -> None:
    """A bad email, a missing field, a lone surrogate, NUL, an instant out of range, and nested problems."""
    raw = (
        b'{"email": "nobody", "copies": ["a@b.example", "a@example", 7], "at": "0001-01-01T00:00:00Z",'
        b' "inner": {"id": "x", "count": 0}, "lone": "\\ud800", "nul": "\\u0000"}'
    )
    with pytest.raises(Invalid) as caught:
        decode_body(Contact, raw)
    assert {(problem.loc[1:], problem.type) for problem in caught.value.problems} == {
        (("lone",), "value_error"),
        (("nul",), "value_error"),
        (("email",), "value_error"),
        (("name",), "missing"),
        (("copies", 1), "value_error"),
        (("copies", 2), "string_type"),
        (("at",), "datetime_out_of_range"),
        (("inner", "id"), "uuid_parsing"),
        (("inner", "name"), "missing"),
        (("inner", "count"), "too_small"),
    }


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
    at = decode_query(Page, f"at={text}".encode()).at
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
        decode_query(Page, query)
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
        assert decode_query(Page, raw) == Page(limit=7, location_id=ID.lower())
        assert decode_query(PageQuery, raw) == PageQuery(limit=7)
        with pytest.raises(Invalid):
            decode_query(Page, b"limit=0")
    long = b"limit=7&unknown=" + b"x" * 10_000
    assert decode_query(Page, long) == Page(limit=7)


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


@pytest.mark.parametrize(
    ("raw", "reason"),
    [
        (b'{"id": "nope", "name": "a"}', "id: An id is a UUID."),
        (b'{"name": "a"}', "id: This field is required."),
        (f'{{"id": "{ID}", "name": 1}}'.encode(), "name: Expected `str`, got `int`"),
    ],
)
def test_a_bad_import_line_is_refused_by_its_field(raw: bytes, reason: str) -> None:
    """In words for the author of the file, who knows no regular expressions."""
    with pytest.raises(ValueError, match=f"^{re.escape(reason)}") as caught:
        decode_line(Small, ImportLine(number=7, studio_id=ID, resource=Raw(raw)))
    assert "regex" not in str(caught.value)
