"""Emails of bodies, normalized, or the problem named at its field."""

from shared.errors import Problem
from shared.wire import normalize_email


def read_email(text: str, field: str) -> tuple[str, list[Problem]]:
    """The normalized email and no problem, or an empty text and the problem."""
    try:
        return normalize_email(text), []
    except ValueError as problem:
        return "", [Problem(("body", field), str(problem), "value_error")]
