"""compose.yaml on a real Docker engine. Runs only with STUDIO_TEST_COMPOSE=1, because it takes minutes.

The images must be there or obtainable: postgres:17.11, rabbitmq:4.1.4, and ours (`docker compose build`).
"""

import json
import os
import subprocess
import time
import urllib.request
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from shared.servers.ports import free_port
from shared.wire import new_id
from tests.harness.bookable_studio import bookable
from tests.harness.system import ROOT

pytestmark = [
    pytest.mark.skipif(
        os.environ.get("STUDIO_TEST_COMPOSE") != "1", reason="STUDIO_TEST_COMPOSE=1 asks for it"
    ),
    pytest.mark.timeout(600),
]
FILES = ["-f", "compose.yaml", "-f", "tests/deploy/receiver.compose.yaml"]


class Compose:
    def __init__(self) -> None:
        self.project = f"studio-test-{os.getpid()}"
        self.port = free_port()
        self.environment = os.environ | {
            "STUDIO_PUBLISH": f"127.0.0.1:{self.port}",
            "STUDIO_WEBHOOK_ALLOW_HTTP": "true",
            "STUDIO_WEBHOOK_ALLOW_HOSTS": "receiver",
        }

    def run(self, *words: str, text: str | None = None) -> str:
        command = ["docker", "compose", "-p", self.project, *FILES, *words]
        done = subprocess.run(
            command, env=self.environment, cwd=ROOT, input=text, capture_output=True, text=True, timeout=400
        )
        assert done.returncode == 0, f"{words}: {done.stderr[-3000:]}"
        return done.stdout

    def studioctl(self, *words: str, text: str | None = None) -> Any:
        return json.loads(self.run("exec", "-T", "gateway", "studioctl", "--json", *words, text=text))

    def call(self, key: str, method: str, path: str, body: Any = None) -> tuple[int, Any]:
        request = urllib.request.Request(
            f"http://127.0.0.1:{self.port}/partner/v1{path}",
            json.dumps(body).encode() if body is not None else None,
            {"X-Service-Key": key, "Content-Type": "application/json", "Idempotency-Key": new_id()},
            method=method,
        )
        with urllib.request.urlopen(request, timeout=10) as response:
            return response.status, json.loads(response.read())

    def deliveries(self) -> list[Any]:
        text = self.run("logs", "--no-log-prefix", "receiver")
        # Some versions of compose put control characters in front of a line even where no terminal is.
        return [json.loads(line[line.index("{") :]) for line in text.splitlines() if "{" in line]


@pytest.fixture(scope="module")
def compose() -> Iterator[Compose]:
    compose = Compose()
    try:
        compose.run("up", "--wait")
        yield compose
    finally:
        compose.run("down", "-v", "-t", "10")


@pytest.fixture(scope="module")
def key(compose: Compose) -> str:
    compose.studioctl("studios", "create", "--name", "Flow", "--slug", "flow", "--timezone", "UTC")
    issued = compose.studioctl("keys", "create", "--studio", "flow", "--name", "k", "--scopes", "all")
    return str(issued["key"])


def test_a_booking_through_the_gateway_reaches_a_webhook_receiver(compose: Compose, key: str) -> None:
    """The whole way inside compose: gateway, bookings, outbox, RabbitMQ, dispatcher, a signed POST."""
    compose.call(key, "POST", "/webhook-endpoints", {"url": "http://receiver:9000/hook"})
    booking_id = _book(compose, key)
    [delivery] = _waited(lambda: [one for one in compose.deliveries() if _id(one) == booking_id])
    assert delivery["body"]["type"] == "booking.created"
    assert delivery["headers"]["webhook-signature"].startswith("v1,")


def test_bookings_scales_to_three(compose: Compose, key: str) -> None:
    """`--scale bookings=3` is enough: the gateway finds the new replicas by itself."""
    compose.run("up", "--wait", "--no-recreate", "--scale", "bookings=3")
    made = [_book(compose, key) for _ in range(3)]
    _waited(lambda: {_id(found) for found in compose.deliveries()} >= set(made))

    def each_has_answered() -> bool:
        with ThreadPoolExecutor(16) as pool:
            statuses = {
                status for status, _ in pool.map(lambda _: compose.call(key, "GET", "/classes"), range(64))
            }
        assert statuses == {200}
        logs = [compose.run("logs", "--no-log-prefix", "--index", str(n), "bookings") for n in (1, 2, 3)]
        return all('"route":"/classes"' in log for log in logs)

    _waited(each_has_answered)


def test_no_service_can_read_another_ones_secrets(compose: Compose, key: str) -> None:
    """One volume, but each file belongs to the one user that may read it."""
    for theirs in ("gateway/operator_token", "forms/database_url", "kept/postgres", "migrate/database_url"):
        with pytest.raises(AssertionError, match="Permission denied"):
            compose.run("exec", "-T", "bookings", "cat", f"/run/studio/{theirs}")


def _book(compose: Compose, key: str) -> str:
    studio = bookable()
    text = "".join(json.dumps(line) + "\n" for line in studio.lines)
    compose.studioctl("import", "-", "--studio", "flow", text=text)
    body = {"class_id": studio.class_ids[0], "member_id": studio.member_ids[0]}
    status, booking = compose.call(key, "POST", "/bookings", body)
    assert status == 201
    return str(booking["id"])


def _id(delivery: Any) -> str:
    return str(delivery["body"]["resource"]["id"])


def _waited(look: Callable[[], Any]) -> Any:
    deadline = time.monotonic() + 60
    while not (found := look()):
        assert time.monotonic() < deadline, "it did not come"
        time.sleep(0.5)
    return found
