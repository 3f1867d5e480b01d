"""What counts as "the database cannot serve now", and what does not."""

import socket

import asyncpg
import pytest

from shared.db.unavailable import is_unavailable

CANNOT_SERVE = ["08006", "25006", "28P01", "3D000", "40001", "40P01", "53100", "53200", "53300", "55P03"]
CANNOT_SERVE += ["55000", "57014", "57P01", "57P02", "57P03", "58030"]
AT_FAULT = ["22021", "22P02", "22003", "23505", "23503", "23514", "42703", "42P01", "XX000"]


def refused_with(state: str) -> BaseException:
    return asyncpg.PostgresError.new({"C": state, "M": "refused"})


@pytest.mark.parametrize("state", CANNOT_SERVE)
def test_these_states_mean_that_the_database_cannot_serve_now(state: str) -> None:
    """Full, restarting, read-only, out of memory or of connections: a retry may work."""
    assert is_unavailable(refused_with(state))


@pytest.mark.parametrize("state", AT_FAULT)
def test_these_states_mean_that_the_statement_or_its_values_are_at_fault(state: str) -> None:
    """A retry would fail in the same way, so they are never held or answered as 503."""
    assert not is_unavailable(refused_with(state))


@pytest.mark.parametrize(
    "problem", [socket.gaierror(-2, "Name or service not known"), ConnectionResetError(), TimeoutError()]
)
def test_a_host_that_cannot_be_reached_or_resolved_counts(problem: OSError) -> None:
    """The driver passes these on as they are."""
    assert is_unavailable(problem)


def test_a_value_that_the_driver_refuses_does_not_count() -> None:
    """asyncpg's DataError is an InterfaceError, like a lost connection."""
    assert not is_unavailable(asyncpg.DataError("invalid input for query argument $1"))
