class MigrationProblem(Exception):
    """A migration or function cannot be applied; the message is one sentence for the operator."""
