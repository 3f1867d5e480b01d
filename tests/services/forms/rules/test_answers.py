"""Each field type against right and wrong answers."""

import base64
from typing import Any

import pytest

from services.forms.rules.answer_values import Answers
from services.forms.rules.answers import evaluate, malformed_answers
from shared.emails import MAX_UNUSUAL, TOO_MANY_UNUSUAL
from shared.errors import Invalid
from tests.services.forms.rules.field_builders import make_field, show_when

PNG = "data:image/png;base64," + base64.b64encode(b"x" * 100).decode()
COLOURS = {"options": ["red", {"value": "blue", "label": "Blue!"}, 3]}
IMAGES = {"accept": "image/*, .pdf", "max_file_size": 100}

TABLE: list[tuple[str, dict[str, Any], Any, str | None]] = [
    # type, properties, answer, the problem's type or None
    ("text", {}, "hello", None),
    ("text", {}, "x" * 5_001, "string_too_long"),
    ("text", {}, ["a"], "string_type"),
    ("textarea", {}, "x" * 50_000, None),
    ("textarea", {}, "x" * 50_001, "string_too_long"),
    ("number", {}, "12.50", None),
    ("number", {}, "-3e2", None),
    ("number", {}, "NaN", "number_parsing"),
    ("number", {}, "1_000", "number_parsing"),
    ("number", {}, "١٢", "number_parsing"),
    ("number", {}, "9" * 101, "number_parsing"),
    ("number", {"min": 0.1, "max": 1}, "0.1", None),
    ("number", {"min": 0.1}, "0.09999999999999999999", "too_small"),
    ("number", {"max": 10}, "10.0000000000000000001", "too_large"),
    ("number", {}, ["1"], "string_type"),
    ("email", {}, "Ann@Example.com", None),
    ("email", {}, "ann@bücher.example", None),
    ("email", {}, "ann@", "value_error"),
    ("email", {}, ["a@b.example"], "string_type"),
    ("phone", {}, "+44 20 7946 0018", None),
    ("phone", {}, "+1 (415) 555-0132", None),
    ("phone", {}, "call me", "phone_parsing"),
    ("phone", {}, "+1 23", "phone_parsing"),
    ("phone", {}, "+" + "1" * 200, "phone_parsing"),
    ("phone", {}, ["+442079460018"], "string_type"),
    ("date", {}, "2026-02-28", None),
    ("date", {}, "2026-02-29", "date_parsing"),
    ("date", {}, "20260228", "date_parsing"),
    ("date", {}, "28.02.2026", "date_parsing"),
    ("date", {}, ["2026-02-28"], "string_type"),
    ("select", COLOURS, "red", None),
    ("select", COLOURS, "blue", None),
    ("select", COLOURS, "3", None),
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
    ("checkbox_group", COLOURS, ["red", "blue"], None),
    ("checkbox_group", COLOURS, "red", None),
    ("checkbox_group", COLOURS, ["red", "pink"], "not_an_option"),
    ("checkbox_group", {}, ["whatever"], None),
    ("checkbox", {}, "true", None),
    ("checkbox", {"required": True}, "false", None),
    ("checkbox", {}, "yes", "bool_parsing"),
    ("checkbox", {}, ["true"], "bool_parsing"),
    ("signature", {}, PNG, None),
    ("signature", {}, "Ann Lee", None),
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
    ("address", {}, "1 High Street, York", None),
    ("address", {}, ["1 High Street", "York"], None),
    ("address", {}, "x" * 2_001, "string_too_long"),
    ("rating", {}, "5", None),
    ("rating", {}, "6", "rating_out_of_range"),
    ("rating", {"max_rating": 10}, "10", None),
    ("rating", {}, "0", "rating_out_of_range"),
    ("rating", {}, "2.5", "rating_out_of_range"),
    ("rating", {}, "1e999", "rating_out_of_range"),
    ("rating", {}, ["2"], "string_type"),
    ("section_break", {}, "x", "not_answerable"),
    ("section_break", {}, "", "not_answerable"),
    ("section_break", {"required": True}, None, None),
    ("consent", {"required": True}, "true", None),
    ("consent", {"required": True}, "false", "consent_required"),
    ("consent", {}, "false", None),
    ("consent", {}, "maybe", "bool_parsing"),
    ("text", {"required": True}, None, "missing"),
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


def test_a_phone_number_in_the_studios_national_format_is_accepted() -> None:
    """Without a country, only the international format is accepted."""
    fields = [make_field("k", "phone")]
    assert not evaluate(fields, {"k": "020 7946 0018"}, region="GB").problems
    assert evaluate(fields, {"k": "020 7946 0018"}).problems


def test_hidden_required_fields_are_skipped_and_their_answers_refused() -> None:
    """A hidden field never blocks; an answer to it means that the caller shows the wrong form."""
    fields = [make_field("a"), make_field("b", required=True, display_when=show_when("a", "eq", "yes"))]
    assert evaluate(fields, {"a": "no"}).problems == []
    assert [one.type for one in evaluate(fields, {"a": "no", "b": "x"}).problems] == ["field_not_visible"]
    assert [one.type for one in evaluate(fields, {"a": "yes"}).problems] == ["missing"]
    assert [one.type for one in evaluate(fields, {"zzz": "x"}).problems] == ["unknown_field"]


def test_values_that_are_not_strings_are_reported_without_the_form() -> None:
    """Answers are texts or arrays of texts; anything else is named by its key."""
    data: dict[str, Any] = {"a": 1, "b": None, "c": {"d": 1}, "e": ["x", 2], "f": True, "ok": "1", "also": []}
    assert [one.loc[-1] for one in malformed_answers(data)] == ["a", "b", "c", "e", "f"]


def test_a_consent_is_stored_with_what_was_shown() -> None:
    """The policy's slug, version and label; the field's label where it has no consent label."""
    fields = [
        make_field(
            "c",
            "consent",
            consent_policy_slug="waiver",
            consent_policy_version="3",
            consent_label="I agree to the waiver",
        ),
        make_field("d", "consent"),
        make_field("hidden", "consent", display_when=show_when("d", "eq", "true")),
    ]
    consents = evaluate(fields, {"c": "true"}).consents
    assert [(one.key, one.given, one.policy_slug, one.policy_version, one.label) for one in consents] == [
        ("c", True, "waiver", "3", "I agree to the waiver"),
        ("d", False, None, None, "d"),
    ]


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
