"""The checks of names and sizes can fail; `make check` runs them over the repository."""

from pathlib import Path

from tests.conventions.__main__ import MAX_LINES, oversized, retired_names, retired_word_in


def test_a_retired_word_is_found_as_a_part_of_any_name() -> None:
    """In snake case, camel case and constants, but not inside another word."""
    assert retired_word_in("most_under_way") == "under_way"
    assert retired_word_in("ConnectionLender") == "lender"
    assert retired_word_in("PATIENCE_SECONDS") == "patience"
    assert [retired_word_in(name) for name in ("handler", "altogether", "calendar", "under")] == [None] * 4


def test_names_in_code_and_of_files_are_reported_and_prose_is_not(tmp_path: Path) -> None:
    """Strings, comments and the names of tests are sentences."""
    path = tmp_path / "lending.py"
    path.write_text('"""Beside."""\n# patience\nPATIENCE = "together"\n\n\ndef test_hand() -> None: ...\n')
    assert [line.partition(": ")[2] for line in retired_names([path])] == [
        "the file name contains 'lending'; say connection pool",
        "PATIENCE contains 'patience'; say timeout",
    ]
    assert list(oversized([path])) == []
    path.write_text("x = 1\n" * (MAX_LINES + 1))
    assert len(list(oversized([path]))) == 1
