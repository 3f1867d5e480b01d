"""Errors that stop a run."""


class BenchProblem(Exception):
    """The message is one sentence for the person who started the run."""


class NothingMeasured(BenchProblem):
    """The machine was so busy that a short round saw no response. Not a failure, but no figure either."""
