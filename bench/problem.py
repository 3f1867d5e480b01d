"""What stops a run."""


class BenchProblem(Exception):
    """One sentence for whoever started the run."""


class NothingMeasured(BenchProblem):
    """A machine so busy that a short round saw no answer: not a failure, and not a figure either."""
