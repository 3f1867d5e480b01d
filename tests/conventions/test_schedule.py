"""The order in which the suite runs its files."""

from tests.conventions.__main__ import ROOT
from tests.harness.schedule import ALONE, SLOWEST, unit_of


def test_every_file_that_the_schedule_names_exists() -> None:
    """A renamed file would otherwise start last without a word."""
    assert [path for path in (*SLOWEST, *ALONE) if not (ROOT / path).exists()] == []
    assert set(SLOWEST) == {unit_of(path) for path in SLOWEST}
