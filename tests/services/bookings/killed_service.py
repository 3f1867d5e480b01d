"""A bookings service that ends itself with SIGKILL at a stage of its first write. Run by test_kill.py only.

python -m tests.services.bookings.killed_service DATABASE_URL PORT CALLER_KEY [STAGE]
"""

import asyncio
import os
import signal
import sys

from services.bookings.context import Bookings, Stage
from services.bookings.routes import routes
from shared.background import Wakeup
from shared.db.database import Database
from shared.http.caller import CallerVerifier
from shared.http.server import Address, Listener, catch_stop_signals, listening
from shared.http.service import build_service


async def main(url: str, port: str, caller_key: str, fatal: str | None = None) -> None:
    def reached(stage: Stage) -> None:
        if stage == fatal:
            os.kill(os.getpid(), signal.SIGKILL)

    # Without the loops: the outbox keeps its rows, so that the test can count the events.
    db = await Database.connect(url, "bookings", size=4)
    context = Bookings(db=db, wakeup=Wakeup(), reached=reached)
    verifier = CallerVerifier((caller_key,))
    service = build_service(
        "bookings", context, routes(), verifier=verifier, checks={"database": db.is_ready}
    )
    async with listening([Listener(Address("bookings", "127.0.0.1", int(port)), service.app)]):
        await catch_stop_signals()


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
