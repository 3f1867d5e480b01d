"""Comparing two commits: what counts as worse, and that the older one's own code runs."""

import subprocess
from pathlib import Path

import pytest

from bench.compare.checkout import checked_out, git
from bench.compare.rounds import Comparison, Pair, measure_row
from bench.measure import Measure, Sample
from bench.problem import BenchProblem, NothingMeasured
from bench.working_tree import ROOT


def comparison(*rates: tuple[float, float], less_is_better: bool = False) -> Comparison:
    pairs = [Pair(Sample(rate=old), Sample(rate=new)) for old, new in rates]
    return Comparison(name="row", unit="", less_is_better=less_is_better, pairs=pairs)


def steady(rate: float) -> Measure:
    return lambda _: Sample(rate=rate)


def measured(old: Measure, new: Measure, *, rounds: int, stop_after: int = 1_000) -> Comparison:
    row = comparison()
    measure_row(
        row,
        {"old": old, "new": new},
        rounds=rounds,
        seconds=0.0,
        may_go_on=lambda found: len(found.pairs) < stop_after,
    )
    return row


def test_a_ratio_over_one_is_better_for_rates_and_for_costs() -> None:
    """Nobody has to remember which way a row points."""
    assert comparison((100, 110)).ratio == pytest.approx(1.1)
    assert comparison((110, 100), less_is_better=True).ratio == pytest.approx(1.1)


def test_a_slow_moment_of_the_machine_does_not_count_against_one_side() -> None:
    """The median of the pairs' ratios: the medians of each side would say 0.5 here."""
    row = comparison((100, 100), (50, 50), (100, 100), (10, 10), (100, 50))
    assert row.ratio == 1.0
    assert not row.is_worse


def test_worse_by_more_than_five_percent_is_worse() -> None:
    """At 5 % it is not yet, a little over it is."""
    assert not comparison((1000, 950)).is_worse
    assert comparison((1000, 949)).is_worse


def test_a_row_that_looks_worse_is_measured_longer_and_every_round_counts() -> None:
    """Noise gets a second and a third chance; what is really slower stays slower."""
    assert len(measured(steady(100), steady(100), rounds=7).pairs) == 7
    slower = measured(steady(100), steady(80), rounds=7)
    assert (len(slower.pairs), slower.is_worse) == (21, True)


def test_a_round_without_an_answer_is_taken_again() -> None:
    """On a busy machine a short round may see none; a side that never answers ends the run."""
    tries = iter([NothingMeasured("nothing")] * 3)

    def slow(_: float) -> Sample:
        for problem in tries:
            raise problem
        return Sample(rate=100)

    assert len(measured(slow, steady(100), rounds=5).pairs) == 5

    def dead(_: float) -> Sample:
        raise NothingMeasured("nothing")

    with pytest.raises(NothingMeasured):
        measured(dead, steady(100), rounds=5)


def test_the_time_that_is_up_ends_the_rounds() -> None:
    """Also those that were added."""
    assert len(measured(steady(100), steady(80), rounds=7, stop_after=4).pairs) == 4


in_a_clone = pytest.mark.skipif(not (ROOT / ".git").exists(), reason="the sources are no git clone")


@in_a_clone
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


@in_a_clone
def test_a_revision_that_does_not_exist_is_told(tmp_path: Path) -> None:
    """In one sentence, before any server is started."""
    with pytest.raises(BenchProblem, match="no such commit"), checked_out("no-such-revision", tmp_path):
        pass
