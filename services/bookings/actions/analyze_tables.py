"""Analyzes tables that have grown, because connections keep their query plans until an ANALYZE."""

import structlog

from services.bookings.context import Bookings
from services.bookings.store import table_statistics

log = structlog.get_logger("bookings")


async def analyze_grown_tables(service: Bookings) -> bool:
    """One step of the loop."""
    async with service.db.connection() as conn:
        grown = await table_statistics.analyze_grown(conn)
    if grown:
        log.info("tables_analyzed", tables=grown)
    return False
