"""The share of CPU time that a run on a shared machine did not get."""

from pathlib import Path

from bench.steal import Steal


def test_the_share_of_stolen_time_since_the_start(tmp_path: Path) -> None:
    """Of all ticks, idle ones too; what was stolen before does not count. Other systems do not tell it."""
    source = tmp_path / "stat"
    source.write_text("cpu  100 0 10 500 0 0 0 90 0 0\ncpu0 1 1 1 1 1 1 1 1 0 0\n")
    steal = Steal(source)
    assert steal.text() == ""
    source.write_text("cpu  140 0 20 525 0 0 0 115 0 0\n")
    assert steal.text() == "25%"
    assert Steal(tmp_path / "nothing").text() == ""
