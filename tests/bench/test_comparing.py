"""Comparing two commits: what counts as worse, and that the older one's own code runs."""

import subprocess
from pathlib import Path

import pytest

from bench.compare.checkout import checked_out, git
from bench.compare.rounds import Comparison, Pair, measure_row
from bench.measure import Measure, Sample
from bench.problem import NothingMeasured
from bench.working_tree import ROOT


def comparison(*rates: tuple[float, float], less_is_better: bool = False) -> Comparison:
    pairs = [Pair(Sample(rate=old), Sample(rate=new)) for old, new in rates]
    return Comparison(name="row", unit="", less_is_better=less_is_better, pairs=pairs)


def measured(new: Measure, stop_after: int = 1_000) -> Comparison:
    """Seven rounds, if nothing else comes of them. The old side is steady."""
    row = comparison()
    measure_row(
        row,
        {"old": lambda _: Sample(rate=100), "new": new},
        rounds=7,
        seconds=0.0,
        may_go_on=lambda found: len(found.pairs) < stop_after,
    )
    return row


@pytest.mark.parametrize(
    ("row", "ratio", "is_worse"),
    [
        (comparison((100, 110)), 1.1, False),
        (comparison((110, 100), less_is_better=True), 1.1, False),
        (comparison((1000, 950)), 0.95, False),
        (comparison((1000, 949)), 0.949, True),
        # The median of the pairs' ratios: the medians of each side would say 0.5 here.
        (comparison((100, 100), (50, 50), (100, 100), (10, 10), (100, 50)), 1.0, False),
    ],
)
def test_a_ratio_over_one_is_better_and_one_under_095_is_worse(
    row: Comparison, ratio: float, is_worse: bool
) -> None:
    """For rates and for costs; a slow moment of the machine does not count against one side."""
    assert row.ratio == pytest.approx(ratio)
    assert row.is_worse is is_worse


def test_a_row_that_looks_worse_is_measured_longer_until_the_time_is_up() -> None:
    """Noise gets a second and a third chance; what is really slower stays slower."""
    assert len(measured(lambda _: Sample(rate=100)).pairs) == 7
    slower = measured(lambda _: Sample(rate=80))
    assert (len(slower.pairs), slower.is_worse) == (21, True)
    assert len(measured(lambda _: Sample(rate=80), stop_after=4).pairs) == 4


def test_a_round_without_an_answer_is_taken_again() -> None:
    """On a busy machine a short round may see none; a side that never answers ends the run."""
    tries = iter([NothingMeasured("nothing")] * 3)

    def slow(_: float) -> Sample:
        for problem in tries:
            raise problem
        return Sample(rate=100)

    assert len(measured(slow).pairs) == 7

    def dead(_: float) -> Sample:
        raise NothingMeasured("nothing")

    with pytest.raises(NothingMeasured):
        measured(dead)


@pytest.mark.skipif(not (ROOT / ".git").exists(), reason="the sources are no git clone")
def test_a_checkout_runs_its_own_code_and_leaves_nothing_behind(tmp_path: Path) -> None:
    """Not the modules of this tree, which are installed in the same virtual environment."""
    with checked_out("HEAD", tmp_path) as tree:
        (tree.path / "services" / "__init__.py").write_text("raise SystemExit('the checkout runs')")
        words = [*tree.studioctl, "--help"]
        done = subprocess.run(
            words, env=tree.environment({}), cwd=ROOT, capture_output=True, text=True, check=False
        )
        assert "the checkout runs" in done.stderr
    assert not tree.path.exists()
    assert str(tree.path) not in git("worktree", "list")
