"""docs/errors.md: every status of the API is in its table, and its program retries what it says."""

import asyncio
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from services.cli.openapi.document import document
from tests.clients.python.scripted_server import scripted_server

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "errors.md").read_text()
(PROGRAM,) = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
CALL = """
try:
    print(call("POST", "/bookings", {"class_id": "x"}, "booking-0001"))
except urllib.error.HTTPError as refusal:
    print("refused", refusal.code)
"""


def test_every_status_is_explained() -> None:
    """No row is missing, and none is of a status that is never answered."""
    told = {
        status
        for methods in document()["paths"].values()
        for operation in methods.values()
        for status in operation["responses"]
        if status >= "400"
    }
    assert re.findall(r"^\| (\d{3}) \|", PAGE, re.MULTILINE) == sorted(told)


@pytest.mark.parametrize(
    ("statuses", "told"),
    [((429, 503, 201), "(201, {'object': 'booking'})"), ((409,), "refused 409")],
    ids=["retried", "refused"],
)
async def test_the_program_retries_with_the_same_key_and_never_what_was_refused(
    statuses: tuple[int, ...], told: str
) -> None:
    """After a 429 and a 503, as soon as `Retry-After` says. A 409 stays one."""
    async with scripted_server() as server:
        for status in statuses:
            server.then(status, {"object": "booking"}, Retry_After="0")
        known = {"STUDIO_URL": server.url, "STUDIO_KEY": "k"}
        done = await asyncio.to_thread(
            subprocess.run,
            [sys.executable, "-c", PROGRAM + CALL],
            env=os.environ | known,
            capture_output=True,
            text=True,
            timeout=60,
        )
    assert (done.stdout.strip() or done.stderr) == told
    keys = [request.headers["Idempotency-Key"] for request in server.requests]
    assert keys == ["booking-0001"] * len(statuses)
