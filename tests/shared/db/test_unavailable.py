"""What counts as "the database cannot serve now", and what does not."""

import socket

import asyncpg

from shared.db.unavailable import is_unavailable

CANNOT_SERVE = ["08006", "25006", "28P01", "3D000", "40001", "40P01", "53100", "53200", "53300", "55P03"]
CANNOT_SERVE += ["55000", "57014", "57P01", "57P02", "57P03", "58030"]
AT_FAULT = ["22021", "22P02", "22003", "23505", "23503", "23514", "42703", "42P01", "XX000"]


def refused_with(states: list[str]) -> list[BaseException]:
    return [asyncpg.PostgresError.new({"C": state, "M": "refused"}) for state in states]


def test_what_may_work_later_counts_and_a_statement_or_value_that_is_at_fault_does_not() -> None:
    """Full, restarting, read-only, out of memory or of connections, or a host that cannot be reached.

    A retry of the others would fail in the same way, so they are never held or answered as 503. asyncpg's
    DataError is an InterfaceError, like a lost connection.
    """
    out_of_reach = [socket.gaierror(-2, "Name or service not known"), ConnectionResetError(), TimeoutError()]
    for problem in (*refused_with(CANNOT_SERVE), *out_of_reach):
        assert is_unavailable(problem), repr(problem)
    for problem in (*refused_with(AT_FAULT), asyncpg.DataError("invalid input for query argument $1")):
        assert not is_unavailable(problem), repr(problem)
