"""Each field type against right and wrong answers. A plain right one of each is in the property test."""

import base64
from typing import Any

import pytest

from services.forms.rules.answer_values import Answers
from services.forms.rules.answers import evaluate
from shared.emails import MAX_UNUSUAL, TOO_MANY_UNUSUAL
from shared.errors import Invalid
from tests.services.forms.rules.field_builders import make_field

PNG = "data:image/png;base64," + base64.b64encode(b"x" * 100).decode()
COLOURS = {"options": ["red", {"value": "blue", "label": "Blue!"}, 3]}
IMAGES = {"accept": "image/*, .pdf", "max_file_size": 100}

TABLE: list[tuple[str, dict[str, Any], Any, str | None]] = [
    # type, properties, answer, the problem's type or None
    ("text", {}, "x" * 5_001, "string_too_long"),
    ("text", {}, ["a"], "string_type"),
    ("textarea", {}, "x" * 50_000, None),
    ("textarea", {}, "x" * 50_001, "string_too_long"),
    ("number", {}, "NaN", "number_parsing"),
    ("number", {}, "1_000", "number_parsing"),
    ("number", {}, "١٢", "number_parsing"),
    ("number", {}, "9" * 101, "number_parsing"),
    ("number", {"min": 0.1, "max": 1}, "0.1", None),
    ("number", {"min": 0.1}, "0.09999999999999999999", "too_small"),
    ("number", {"max": 10}, "10.0000000000000000001", "too_large"),
    ("email", {}, "ann@bücher.example", None),
    ("email", {}, "ann@", "value_error"),
    ("phone", {}, "call me", "phone_parsing"),
    ("phone", {}, "+1 23", "phone_parsing"),
    ("phone", {}, "+" + "1" * 200, "phone_parsing"),
    ("date", {}, "2026-02-29", "date_parsing"),
    ("date", {}, "20260228", "date_parsing"),
    ("select", COLOURS, "blue", None),
    ("select", COLOURS, "3.0", None),
    ("select", {"options": ["3"]}, "3.0", "not_an_option"),
    ("select", {"options": ["1.10", 2.5, 10**30]}, "1.1", "not_an_option"),
    ("select", {"options": [2.5]}, "2.50", None),
    ("select", {"options": [10**30]}, str(10**30), None),
    ("select", {"options": [10**30]}, str(10**30 + 1), "not_an_option"),
    ("select", {"options": [1], "multiple": True}, ["1", "1.0"], "duplicate_option"),
    ("select", COLOURS, "Blue!", "not_an_option"),
    ("select", COLOURS, ["red"], "string_type"),
    ("select", COLOURS | {"multiple": True}, ["red", "blue"], None),
    ("select", COLOURS | {"multiple": True}, ["red", "red"], "duplicate_option"),
    ("checkbox_group", COLOURS, "red", None),
    ("checkbox_group", COLOURS, ["red", "pink"], "not_an_option"),
    ("checkbox_group", {}, ["whatever"], None),
    ("checkbox", {"required": True}, "false", None),
    ("checkbox", {}, "yes", "bool_parsing"),
    ("checkbox", {}, ["true"], "bool_parsing"),
    ("signature", {}, PNG, None),
    ("signature", {}, "x" * 200_001, "string_too_long"),
    ("file_upload", {}, PNG, None),
    ("file_upload", IMAGES, PNG, None),
    ("file_upload", IMAGES | {"max_file_size": 99}, PNG, "file_too_large"),
    ("file_upload", IMAGES, "data:text/html,<b>", "file_kind"),
    ("file_upload", IMAGES, "data:application/pdf;base64,eA==", None),
    ("file_upload", {"accept": ".heic2"}, "data:x/y;name=A.HEIC2;base64,eA==", None),
    ("file_upload", {"accept": ".pdf"}, "data:image/png;name=a.pdf;base64,eA==", "file_kind"),
    ("file_upload", {"accept": ".pdf"}, "data:application/octet-stream;name=a.pdf;base64,eA==", None),
    ("file_upload", {"accept": ".pdf"}, "data:;name=a.pdf;base64,eA==", None),
    ("file_upload", {"accept": ".pdf"}, "data:;name=a.png;base64,eA==", "file_kind"),
    ("file_upload", {"accept": ".pdf"}, "data:application/pdf;name=a.png;base64,eA==", None),
    ("file_upload", {}, "data:image/;base64,eA==", "data_uri_parsing"),
    ("file_upload", {}, "data:/png;base64,eA==", "data_uri_parsing"),
    ("file_upload", {}, "data:image/p ng;base64,eA==", "data_uri_parsing"),
    ("file_upload", {"required": True}, "data:image/png;base64,", "missing"),
    ("file_upload", {"required": True}, "data:,", "missing"),
    ("file_upload", {"required": True, "multiple": True}, ["data:,", PNG], None),
    ("file_upload", {}, "data:,", None),
    ("file_upload", {"max_file_size": 3}, "data:,%41%42%43", None),
    ("file_upload", {}, "https://example.com/a.png", "data_uri_parsing"),
    ("file_upload", {}, "data:image/png;base64,***", "data_uri_parsing"),
    ("file_upload", {}, "data:image/png;base64,é", "data_uri_parsing"),
    ("file_upload", {}, "data:nonsense,x", "data_uri_parsing"),
    ("file_upload", {}, [PNG], "string_type"),
    ("file_upload", {"multiple": True}, [PNG, PNG], None),
    ("file_upload", {"multiple": True}, [PNG, "no"], "data_uri_parsing"),
    ("address", {}, "x" * 2_001, "string_too_long"),
    ("rating", {}, "6", "rating_out_of_range"),
    ("rating", {"max_rating": 10}, "10", None),
    ("rating", {}, "0", "rating_out_of_range"),
    ("rating", {}, "2.5", "rating_out_of_range"),
    ("rating", {}, "1e999", "rating_out_of_range"),
    ("section_break", {}, "x", "not_answerable"),
    ("section_break", {}, "", "not_answerable"),
    ("section_break", {"required": True}, None, None),
    ("consent", {"required": True}, "false", "consent_required"),
    ("consent", {}, "false", None),
    ("consent", {}, "maybe", "bool_parsing"),
    ("text", {"required": True}, "  ", "missing"),
    ("checkbox_group", COLOURS | {"required": True}, [], "missing"),
    ("number", {}, "", None),
]


@pytest.mark.parametrize(("type", "properties", "answer", "problem"), TABLE)
def test_each_type_checks_its_own_values(
    type: str, properties: dict[str, Any], answer: Any, problem: str | None
) -> None:
    """A wrong value is reported at its key with its type; a blank optional one counts as no answer."""
    answers = {} if answer is None else {"k": answer}
    found = evaluate([make_field("k", type, **properties)], answers).problems
    assert [(one.loc, one.type) for one in found] == ([(("body", "data", "k"), problem)] if problem else [])


@pytest.mark.parametrize(("count", "refused"), [(MAX_UNUSUAL, False), (MAX_UNUSUAL + 1, True)])
def test_a_submission_has_only_so_many_unusual_addresses(count: int, refused: bool) -> None:
    """Each takes the library milliseconds: 100 in one small body took half a second."""
    fields = [make_field(f"f{number}", "email") for number in range(count)]
    answers: Answers = {f"f{number}": f"a{number}@bücher.example" for number in range(count)}
    if refused:
        with pytest.raises(Invalid) as caught:
            evaluate(fields, answers)
        assert [problem.msg for problem in caught.value.problems] == [TOO_MANY_UNUSUAL]
    else:
        assert evaluate(fields, answers).problems == []
    assert evaluate(fields, dict.fromkeys(answers, " ")).problems == [], "blank is no address"
