"""The order in which the suite runs its files."""

from tests.conventions.names_and_sizes import ROOT
from tests.harness.schedule import ALONE, END_TO_END, SLOWEST, place_of, unit_of


def test_every_file_that_the_schedule_names_exists() -> None:
    """A renamed file would otherwise start last without a word."""
    assert [path for path in (*SLOWEST, *ALONE) if not (ROOT / path).exists()] == []
    assert set(SLOWEST) == {unit_of(path) for path in SLOWEST}


def test_a_file_stays_on_one_worker_and_slow_ones_start_first() -> None:
    """Tests that share what takes long to start are one unit, all others are split by file."""
    shared, own = f"{END_TO_END}/test_limits.py::test_a[x::y]", f"{END_TO_END}/test_readme.py::test_b"
    assert unit_of(shared) == END_TO_END
    assert unit_of(own) == f"{END_TO_END}/test_readme.py"
    assert place_of(SLOWEST[0]) < place_of(SLOWEST[1]) < place_of("tests/shared/test_settings.py")
