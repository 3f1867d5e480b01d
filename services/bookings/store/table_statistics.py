"""What the planner knows of the tables."""

from shared.db.database import Connection


async def analyze_grown(conn: Connection) -> list[str]:
    """The tables that have more than doubled since they were last looked at, which they are now."""
    return [row[0] for row in await conn.fetch("SELECT * FROM analyze_grown()")]
