"""Each service's database role: its password, and the settings with which each of its sessions starts.

The settings belong to the role and not to the connection, because a pooler refuses most start-up parameters
and shares its sessions.
"""

from typing import Any

import asyncpg


def role_settings(service: str) -> dict[str, str]:
    return {
        "search_path": service,
        "timezone": "UTC",
        # For any server: read pages along an index, and do not compile short statements.
        "random_page_cost": "1.1",
        "jit": "off",
        # The server ends the session of a machine that has disappeared within 22 s, and the transaction of a
        # process that hangs, because others wait for its locks.
        "tcp_keepalives_idle": "10",
        "tcp_keepalives_interval": "3",
        "tcp_keepalives_count": "4",
        "tcp_user_timeout": "20000",
        "idle_in_transaction_session_timeout": "15000",
    }


CURRENT = """
SELECT setconfig FROM pg_db_role_setting s JOIN pg_roles r ON r.oid = s.setrole
WHERE r.rolname = $1 AND s.setdatabase = 0
"""


async def ensure_role(conn: "asyncpg.Connection[Any]", service: str, role: str, password: str | None) -> None:
    if not await conn.fetchval("SELECT 1 FROM pg_roles WHERE rolname = $1", role):
        await conn.execute(f"CREATE ROLE {role} LOGIN NOINHERIT")
    if password is not None:
        literal = await conn.fetchval("SELECT quote_literal($1)", password)
        await conn.execute(f"ALTER ROLE {role} PASSWORD {literal}")
    current = {text.partition("=")[0].lower(): text for text in await conn.fetchval(CURRENT, role) or []}
    for name, value in role_settings(service).items():
        if current.get(name, "").partition("=")[2] != value:
            await conn.execute(f"ALTER ROLE {role} SET {name} TO '{value}'")


async def has_settings(conn: "asyncpg.Connection[Any]", service: str) -> bool:
    """Whether this session started with the role's settings."""
    return bool(await conn.fetchval("SELECT current_setting('search_path') = $1", service))
