"""docs/booking-flows.md: the program that moves a booking, as it is printed there."""

import json
import os
import re
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from services.bookings.errors import MOVE_REFUSALS
from tests.harness import import_lines as lines
from tests.harness.http import created
from tests.harness.system import System

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "booking-flows.md").read_text()
[SECTION] = re.findall(r"^## Move to another class\n(.*?)(?=^## |\Z)", PAGE, re.DOTALL | re.MULTILINE)
[PROGRAM] = re.findall(r"```python\n(.*?)```", SECTION, re.DOTALL)


def run(system: System, key: str, *words: str, said: str = "") -> tuple[Any, str]:
    """What it prints as JSON, and what it tells its user."""
    url = f"{system.running.partner_url}/partner/v1"
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, *words],
        env={**os.environ, "STUDIO_URL": url, "STUDIO_KEY": key},
        input=said,
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    return json.loads(done.stdout.removeprefix("Move? [y/N] ")), done.stderr


async def test_the_move_runs_as_printed(system: System) -> None:
    """It asks before it moves, keeps the seat when the other class is full, and tells what it cost."""
    soon = datetime.now(UTC) + timedelta(hours=3)
    old, new, full = (lines.class_(start_time=soon, capacity=1) for _ in range(3))
    people = [lines.member(), lines.member()]
    key = await system.key()
    partner = system.partner(key)
    policy = (await partner.get("/studio")).json() | {"late_fee_amount": "15", "late_fee_currency": "USD"}
    await system.import_lines([policy])
    await system.import_lines([old, new, full, *people])
    booking = created(await partner.book(old["id"], people[0]["id"]))
    created(await partner.book(full["id"], people[1]["id"]))
    answer, told = run(system, key, booking["id"], full["id"], "--yes")
    assert (answer, told) == ("class_full", "")
    answer, told = run(system, key, booking["id"], new["id"], said="n\n")
    assert answer == "declined" and "costs 15.00 USD and 0 credits" in told
    answer, _ = run(system, key, booking["id"], new["id"], said="y\n")
    assert (answer["booking"]["id"], answer["booking"]["class_id"]) == (booking["id"], new["id"])
    assert (answer["from_class_id"], answer["terms"]["late_fee_amount"]) == (old["id"], "15.00")
    assert run(system, key, booking["id"], new["id"], "--yes")[0] == "same_class"
    assert run(system, key, booking["id"], "not an id", "--yes")[0] == "validation_failed"


def test_a_move_that_is_still_running_is_asked_for_again() -> None:
    """Its answer is the one that counts, and it comes under the same key."""
    printed: dict[str, Any] = {"__name__": "printed"}
    exec(PROGRAM, printed)
    done = {"object": "booking_reschedule"}
    answers = [
        (200, {"outcome": "rescheduled", "terms": {"late_fee_amount": None, "credit_forfeited": False}}),
        (409, {"error": {"code": "idempotency_in_progress"}}),
        (200, done),
    ]
    keys: list[str | None] = []

    def call(path: str, body: Any, key: str | None = None) -> Any:
        keys.append(key)
        return answers.pop(0)

    printed["call"] = call
    assert printed["move"]("b", "c", lambda terms: True) == done
    assert keys[0] is None and keys[1] == keys[2]


def test_the_page_names_every_refusal_by_its_code() -> None:
    """What it names exists; the list itself is in the reference."""
    codes = {kind.code for kind in MOVE_REFUSALS}
    named = set(re.findall(r"409 `(\w+)`", SECTION))
    assert named <= codes and {"booking_not_movable", "class_full", "cancellation_terms_changed"} <= named
