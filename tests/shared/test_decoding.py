"""Bodies and queries become structs, or problems with their places."""

from datetime import UTC, datetime, timedelta
from typing import Annotated

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import Meta

from shared.decoding import decode_body, decode_query
from shared.errors import Invalid
from shared.wire import Body, Id, Instant, PageQuery


class Small(Body, frozen=True, kw_only=True):
    id: Id
    name: str
    count: Annotated[int, Meta(ge=1)] = 1
    tags: tuple[str, ...] = ()


class Times(PageQuery, frozen=True, kw_only=True):
    at: Instant | None = None
    location_id: Id | None = None
    active: bool = True


ID = "0B8A3C52-6DFE-4F7A-9F1A-3C8B57F0F3AD"


def problems(raw: bytes) -> set[tuple[tuple[str | int, ...], str]]:
    with pytest.raises(Invalid) as caught:
        decode_body(Small, raw)
    return {(problem.loc, problem.type) for problem in caught.value.problems}


def test_every_problem_of_the_top_level_is_told() -> None:
    """One answer names all that is wrong, so that a partner mends it in one go."""
    raw = b'{"id": "x", "count": 0, "tags": ["a", 1], "extra": 1}'
    assert problems(raw) == {
        (("body", "id"), "uuid_parsing"),
        (("body", "name"), "missing"),
        (("body", "count"), "too_small"),
        (("body", "tags", 1), "string_type"),
        (("body", "extra"), "extra_forbidden"),
    }


def test_ids_are_lower_case_after_decoding() -> None:
    """Ids are compared as text; some languages print them in capitals."""
    decoded = decode_body(Small, f'{{"id": "{ID}", "name": "n"}}'.encode())
    assert decoded.id == ID.lower()
    assert decode_query(Times, f"location_id={ID}".encode()).location_id == ID.lower()


def test_nul_is_refused_where_it_stands_but_not_as_plain_text() -> None:
    r"""An escaped backslash before u0000 is six harmless letters."""
    assert problems(f'{{"id": "{ID}", "name": "a\\u0000"}}'.encode()) == {(("body", "name"), "value_error")}
    assert problems(f'{{"id": "{ID}", "name": "", "tags": ["", "\\u0000"]}}'.encode()) == {
        (("body", "tags", 1), "value_error")
    }
    assert decode_body(Small, f'{{"id": "{ID}", "name": "\\\\u0000"}}'.encode()).name == "\\u0000"


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
    """A plus that was not percent-encoded arrives as a space and is understood all the same."""
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


@given(st.binary(max_size=200))
def test_any_bytes_decode_or_are_invalid(raw: bytes) -> None:
    """Nothing that a partner sends raises anything else."""
    for decode in (lambda: decode_body(Small, raw), lambda: decode_query(Times, raw)):
        try:
            decode()
        except Invalid as problem:
            assert problem.problems
