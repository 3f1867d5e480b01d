"""A problem's type is derived from msgspec's message, which may change: these tests cover each one."""

from datetime import datetime
from enum import Enum
from typing import Annotated, Any
from uuid import UUID

import msgspec
import pytest
from msgspec import Meta, Struct

from shared.http.body_problems import _KINDS, problem_at
from shared.wire import Id

KNOWN = "0.22"


class Colour(Enum):
    RED = "red"


class Strict(Struct, forbid_unknown_fields=True):
    name: str = ""


class Needy(Struct):
    name: str


class Nested(Struct):
    needy: list[Needy]


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


def refusal(kind: Any, raw: bytes) -> msgspec.ValidationError:
    with pytest.raises(msgspec.ValidationError) as caught:
        msgspec.json.decode(raw, type=kind)
    return caught.value


def test_msgspec_is_the_version_whose_sentences_are_known() -> None:
    """For a new version, check the table in body_problems.py, then change the version here."""
    assert msgspec.__version__.rpartition(".")[0] == KNOWN


@pytest.mark.parametrize(("kind", "raw", "sentence", "told"), SENTENCES)
def test_each_sentence_of_msgspec_has_its_type(kind: Any, raw: bytes, sentence: str, told: str) -> None:
    """Partners' programs use the type, so it must not change with a library's wording."""
    problem = refusal(kind, raw)
    assert str(problem).startswith(sentence)
    assert problem_at(problem, ("body",)).type == told


def test_no_type_is_without_a_sentence_that_proves_it() -> None:
    """A new kind needs the message that it is derived from."""
    assert {kind for _, kind in _KINDS} <= {told for *_, told in SENTENCES}


def test_the_place_is_read_from_the_end_of_the_sentence() -> None:
    """Fields by name, parts of a list by number."""
    problem = refusal(Nested, b'{"needy": [{"name": "a"}, {}]}')
    assert str(problem) == "Object missing required field `name` - at `$.needy[1]`"
    assert problem_at(problem, ("body",)).loc == ("body", "needy", 1, "name")
