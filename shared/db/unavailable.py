"""Which errors mean that the database cannot serve now. Neither the request nor the message is at fault."""

import asyncpg

from shared.errors import Unavailable, UpstreamTimeout

# What asyncpg and the socket raise when the database is down, restarting or full: nothing was committed.
DATABASE_UNAVAILABLE = (
    asyncpg.PostgresConnectionError,
    asyncpg.CannotConnectNowError,
    asyncpg.AdminShutdownError,
    asyncpg.CrashShutdownError,
    asyncpg.TooManyConnectionsError,
    asyncpg.InterfaceError,
    # A connection that broke inside a call: "cannot switch to state …".
    asyncpg.InternalClientError,
    asyncpg.QueryCanceledError,
    asyncpg.DeadlockDetectedError,
    ConnectionError,
    TimeoutError,
)


_RETRYABLE: tuple[type[Exception], ...] = (*DATABASE_UNAVAILABLE, OSError, Unavailable, UpstreamTimeout)


def is_unavailable(problem: Exception) -> bool:
    """asyncpg's DataError is an InterfaceError as well, but then the value is at fault: a ValueError too."""
    return isinstance(problem, _RETRYABLE) and not isinstance(problem, ValueError)
