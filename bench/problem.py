"""What stops a run."""


class BenchProblem(Exception):
    """One sentence for whoever started the run."""
