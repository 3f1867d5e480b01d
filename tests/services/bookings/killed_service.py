"""A bookings service that kills itself at a stage of its first write. Forked by test_killed_mid_write.py."""

import asyncio
import logging

import structlog

from services.bookings.context import Bookings
from services.bookings.routes import routes
from shared.background import Wakeup
from shared.http.caller import CallerVerifier
from shared.http.server import Address, Listener, catch_stop_signals, listening
from shared.http.service import build_service
from tests.harness.database_layout import open_database
from tests.services.bookings.fault_injection import FaultyDatabase, Stage


async def main(url: str, port: str, caller_key: str, fatal: str | None = None) -> None:
    # A run of 100,000 operations prints its ledger, not every request.
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.WARNING))
    # Without the loops: the outbox keeps its rows, so that the test can count the events.
    db = await open_database(url, "bookings", size=4, kind=FaultyDatabase)
    assert isinstance(db, FaultyDatabase)
    db.fatal = Stage(fatal) if fatal else None
    context = Bookings(db=db, wakeup=Wakeup())
    verifier = CallerVerifier((caller_key,))
    service = build_service(
        "bookings", context, routes(), verifier=verifier, checks={"database": db.is_ready}
    )
    async with listening([Listener(Address("bookings", "127.0.0.1", int(port)), service.app)]):
        await catch_stop_signals()


def serve(url: str, port: str, caller_key: str, fatal: str | None = None) -> None:
    asyncio.run(main(url, port, caller_key, fatal))
