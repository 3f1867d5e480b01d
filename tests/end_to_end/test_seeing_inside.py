"""What operators see of a booking in five processes: logs, a trace, metrics, and no personal data."""

import asyncio
import json
import secrets
from collections.abc import AsyncIterator, Iterator
from typing import Any

import aiohttp
import pytest

from shared.wire import new_id
from tests.deploy.promql import metrics_in, queries
from tests.harness.bookable_studio import bookable
from tests.harness.databases import Template
from tests.harness.otlp_collector import Collector, SeenSpan, collecting
from tests.harness.receiver import Receiver
from tests.harness.servers import Rabbit
from tests.harness.system import RunningSystem, System, new_studio_in, separate_services

pytestmark = pytest.mark.timeout(240)

SPANS = (
    ("gateway", "POST /bookings"),
    ("bookings", "POST /bookings"),
    ("bookings", "publish booking.created"),
    ("webhooks", "log booking.created"),
    ("webhooks", "deliver webhook"),
)


@pytest.fixture(scope="module")
def collector() -> Iterator[Collector]:
    with collecting() as one:
        yield one


@pytest.fixture(scope="module")
def services(
    collector: Collector,
    migrated_template: Template,
    rabbit: Rabbit,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[RunningSystem]:
    vhost = f"inside-{secrets.token_hex(4)}"
    rabbit.add_vhosts([vhost])
    tracing = {"STUDIO_OTLP_ENDPOINT": collector.url, "OTEL_BSP_SCHEDULE_DELAY": "200"}
    with (
        migrated_template.copy_for_session() as url,
        separate_services(tmp_path_factory.mktemp("inside"), url, rabbit.url_of(vhost), **tracing) as running,
    ):
        yield running


@pytest.fixture
async def inside(services: RunningSystem) -> AsyncIterator[System]:
    async with new_studio_in(services) as system:
        yield system


async def book(system: System, receiver: Receiver, **headers: str) -> str:
    """Makes a booking, waits for its webhook, and returns the request's id."""
    studio = bookable()
    await system.import_lines(studio.lines)
    partner = system.partner(await system.key())
    await partner.create("/webhook-endpoints", {"url": receiver.url})
    body = {"class_id": studio.class_ids[0], "member_id": studio.member_ids[0]}
    request_id = f"life-{new_id()}"
    sent = {"Idempotency-Key": new_id(), "X-Request-Id": request_id} | headers
    for _ in range(2):  # the second one is a replay
        booked = await partner.send("POST", "/bookings", body, headers=sent)
        assert booked.status == 201, booked.body
    await receiver.until_count(1)
    return request_id


def lines(system: RunningSystem) -> list[dict[str, Any]]:
    """Every line of every log; one that is not JSON fails here."""
    return [json.loads(line) for path in system.logs.glob("*.log") for line in path.read_text().splitlines()]


async def test_a_requests_whole_life_can_be_read_by_its_id(inside: System, receiver: Receiver) -> None:
    """Gateway, service, outbox, event log and delivery all log the id, with studio and key."""
    request_id = await book(inside, receiver)
    async with asyncio.timeout(20):
        while len(life := [x for x in lines(inside.running) if x.get("request_id") == request_id]) < 7:
            await asyncio.sleep(0.1)
    assert {(line["service"], line["event"]) for line in life} == {
        ("gateway", "request"),
        ("bookings", "request"),
        ("bookings", "event_published"),
        ("webhooks", "event_logged"),
        ("webhooks", "delivery_attempted"),
    }
    assert {line["studio_id"] for line in life} == {inside.studio_id}
    assert len({line["key_id"] for line in life if line["event"] == "request"}) == 1
    assert len({line["trace_id"] for line in life if line["event"] != "request"}) == 1


async def test_the_partners_call_and_its_webhook_are_one_trace(
    inside: System, receiver: Receiver, collector: Collector
) -> None:
    """Through gateway, service, outbox, broker and dispatcher; our spans continue the partner's own trace."""
    trace_id, partner_span = secrets.token_hex(16), secrets.token_hex(8)
    await book(inside, receiver, traceparent=f"00-{trace_id}-{partner_span}-01")

    def ours(spans: list[SeenSpan]) -> dict[tuple[str, str], SeenSpan]:
        return {(span.service, span.name): span for span in reversed(spans) if span.trace_id == trace_id}

    found = ours(collector.until(lambda spans: set(ours(spans)) >= set(SPANS)))
    gateway, service, publish, logged, delivered = (found[station] for station in SPANS)
    assert gateway.parent_id == partner_span
    assert service.parent_id == gateway.id
    assert publish.parent_id == service.id
    assert logged.parent_id == delivered.parent_id == publish.id
    assert "traceparent" not in receiver.received[0].headers


async def test_every_query_of_dashboard_and_alerts_names_an_exported_metric(
    inside: System, receiver: Receiver
) -> None:
    """A renamed metric would leave an empty panel, and an alert that never fires."""
    await book(inside, receiver)
    async with asyncio.timeout(20):  # an attempt is counted once it is recorded, after it has arrived
        while "studio_delivery_attempts_total" not in (exported := await _exported(inside)):
            await asyncio.sleep(0.05)
    for where, expression in queries():
        for metric, labels in metrics_in(expression).items():
            if metric == "up":  # Prometheus's own
                continue
            assert metric in exported, f"{where} asks for {metric}, which nobody exports"
            assert labels - {"job", "instance"} <= exported[metric], (
                f"{where}: {metric} has {exported[metric]}"
            )


async def test_no_log_names_a_person_or_a_secret(inside: System, receiver: Receiver) -> None:
    """In successful and refused requests: no keys, tokens, secrets, emails, names, phones or answers."""
    mark = secrets.token_hex(6)
    email, name, phone = f"{mark}@people.example", f"Zaphod{mark}", "+12125550147"
    member = {"object": "member", "id": new_id(), "first_name": name, "last_name": name, "email": email}
    await inside.import_lines([member | {"phone": phone}])
    key = await inside.key()
    partner = inside.partner(key)
    endpoint = await partner.post("/webhook-endpoints", {"url": receiver.url, "description": name})
    lead = {"email": email, "first_name": name, "last_name": name, "phone": phone}
    for body in (lead, lead, lead | {"email": f"{email}\x00"}, lead | {"unknown": name}):
        await partner.post("/leads", body)
    await partner.post(
        "/members", {"email": email, "first_name": name}, headers={"Idempotency-Key": new_id()}
    )
    await partner.get("/members", email=email)
    await partner.get(f"/members/{email}")
    await inside.partner(key[:-4] + "aaaa").get("/studio")
    await inside.try_import(json.dumps(member | {"email": name, "id": email}).encode())
    await book(inside, receiver)
    secret = endpoint.json()["secret"]
    planted = [email, name, phone, key, secret, inside.running.operator_token]
    made = json.loads((inside.running.logs / "secrets.json").read_text())
    planted += [value for values in made.values() for value in values]
    text = "".join(path.read_text() for path in inside.running.logs.glob("*.log"))
    assert text and [value for value in planted if value in text] == []


async def _exported(system: System) -> dict[str, set[str]]:
    """Every series name with its labels, over all services."""
    urls = [process.ready_url for process in system.running.processes.values()]
    pages = [
        url.replace("/health/ready", "/metrics") for url in urls if system.running.partner_url not in url
    ]
    pages.append(f"{system.running.operator_url}/metrics")
    exported: dict[str, set[str]] = {}
    async with aiohttp.ClientSession() as session:
        for page in pages:
            async with session.get(page) as response:
                assert response.status == 200, page
                text = await response.text()
            for line in text.splitlines():
                if not line.startswith("#"):
                    name, _, labels = line.rpartition(" ")[0].partition("{")
                    names = {part.split("=")[0] for part in labels.rstrip("}").split(",") if part}
                    exported.setdefault(name, set()).update(names)
    return exported
