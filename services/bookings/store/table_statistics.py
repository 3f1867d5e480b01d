"""The planner's statistics about the tables."""

from shared.db.database import Connection


async def analyze_grown(conn: Connection) -> list[str]:
    """Analyzes the tables that have more than doubled since their last ANALYZE; returns their names."""
    return [row[0] for row in await conn.fetch("SELECT * FROM analyze_grown()")]
