"""Which errors mean that the database is unavailable, so that the request or message is not the cause.

Partners get 503 for them, messages are held instead of parked, loops back off. One list, by SQLSTATE and by
what the driver and the operating system raise.
"""

import asyncpg

from shared.errors import Unavailable, UpstreamTimeout

# https://www.postgresql.org/docs/current/errcodes-appendix.html
SQLSTATE_CLASSES = frozenset(
    {
        "08",  # connection exception
        "28",  # the role or its password is refused, as while it is being rotated
        "40",  # transaction rollback: serialization failure, deadlock
        "53",  # insufficient resources: disk full, out of memory, too many connections
        "57",  # operator intervention: shutdown, crash recovery, cancelled statement
        "58",  # system error outside Postgres: input/output error, missing file
        "F0",  # configuration file error
    }
)
SQLSTATES = frozenset(
    {
        "25006",  # the server is read-only: a standby, or set so
        "3D000",  # the database is not there (any more, or yet)
        "55000",  # the database takes no connections: closed by an administrator, or being dropped
        "55P03",  # a lock was not available in time
    }
)
# asyncpg raises InterfaceError and InternalClientError ("cannot switch to state …") for a connection that
# broke inside a call. OSError covers refused, reset and unresolvable hosts, and TimeoutError.
_CLIENT_SIDE: tuple[type[BaseException], ...] = (
    asyncpg.InterfaceError,
    asyncpg.InternalClientError,
    OSError,
    MemoryError,
    Unavailable,
    UpstreamTimeout,
)


def is_unavailable(problem: BaseException) -> bool:
    if isinstance(problem, asyncpg.PostgresError):
        state = str(getattr(problem, "sqlstate", None) or "")
        return state[:2] in SQLSTATE_CLASSES or state in SQLSTATES
    # asyncpg's DataError is an InterfaceError too, but a ValueError as well: then the value is at fault.
    return isinstance(problem, _CLIENT_SIDE) and not isinstance(problem, ValueError)


def was_cut_off(problem: BaseException) -> bool:
    """Whether a statement may have taken effect nevertheless: not if the server itself refused it."""
    state = str(getattr(problem, "sqlstate", None) or "")
    return not state or state.startswith(("08", "57P"))
