"""The demo studio of `up`: loaded by the regular import, with a key, and with what the samples need.

An import cannot bring everything that the samples in the reference refer to. This is made once after it: for
partners, a booking under a known idempotency key, and a webhook endpoint with an event, a delivery and a
recovery. The endpoint gets no deliveries by itself: nothing listens there. For operators, a key and a staff
token with fixed ids. Their secrets are not kept, so nobody can use them.
"""

import asyncio
import io
import json
import urllib.error
import urllib.request
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from typing import Any, Final

from msgspec import Raw

from services.cli.command import CommandFailed
from services.cli.demo import demo_lines
from services.cli.demo.studio import STUDIO_ID, demo_id
from services.cli.demo.timetable import (
    BOOKING_ID,
    DELIVERY_ID,
    ENDPOINT_ID,
    EVENT_ID,
    IDEMPOTENCY_KEY,
    KEY_ID,
    OPEN_CLASS,
    RECOVERY_ID,
    STAFF_TOKEN_ID,
    spot_id,
)
from services.cli.import_file import import_stream
from services.cli.operator_client import OperatorClient
from services.cli.output import step
from services.cli.secrets import write_private
from services.gateway.rules.key_text import STAFF_HEAD, NewKey, hash_secret, make_key, make_token
from services.gateway.store import clients, keys, staff_tokens
from services.webhooks.actions.log_events import add_to_log
from services.webhooks.rules.signing import SecretCipher, new_secret
from services.webhooks.store import endpoints
from services.webhooks.store.event_log import get_event
from services.webhooks.wire.endpoints import Attempt, EndpointCreate
from shared.db.database import Connection, Database
from shared.events.envelope import read_envelope, render
from shared.events.event import Event, EventResource
from shared.events.kinds import BookingCreated
from shared.http.caller import Caller
from shared.routing import PREFIX, SCOPES
from shared.settings import Settings
from shared.wire import encode, now

DEMO_KEY: Final = "demo_key.json"
OPERATOR: Final = Caller(studio_id=STUDIO_ID, actor="operator")
ENDPOINT: Final = EndpointCreate(
    url="http://127.0.0.1:9001/hooks/studio",
    description="Website",
    event_types=["webhook_endpoint.disabled"],
)


def load_demo(client: OperatorClient, *, progress: bool = True) -> dict[str, Any]:
    file = io.BytesIO(b"".join(encode(line) + b"\n" for line in demo_lines(datetime.now(UTC).date())))
    size = file.getbuffer().nbytes
    report = import_stream(client, file, None, size=size, progress=progress, send_events=False)
    if report["rejected_count"]:
        raise CommandFailed(f"The demo studio was not loaded completely: {report['rejected'][0]['reason']}")
    return report


async def demo_key(settings: Settings, operator_url: str) -> str:
    """The demo studio's key, created with the studio on the first start and stored for later ones."""
    client = OperatorClient(operator_url, settings.operator_tokens[0])
    key = await asyncio.to_thread(_stored_key, settings, client)
    await _add_operator_samples(settings)
    await _add_partner_samples(settings, client)
    return key


def _stored_key(settings: Settings, client: OperatorClient) -> str:
    path = settings.home / DEMO_KEY
    known = {studio["id"] for studio in client.get("/studios")["data"]}
    if STUDIO_ID not in known or not path.exists():
        # If no key is stored, an earlier start was interrupted while loading. Loading again does no harm.
        with step("Loading the demo studio"):
            load_demo(client, progress=False)
    if path.exists():
        kept: dict[str, str] = json.loads(path.read_text())
        key = next((key for key in client.get("/keys")["data"] if key["id"] == kept["id"]), None)
        if key is not None and _is_live(key):
            return kept["key"]
    issued = client.post("/keys", {"studio": STUDIO_ID, "name": "demo", "scopes": ["all"]})
    write_private(path, json.dumps({"id": issued["id"], "key": issued["key"]}) + "\n")
    return str(issued["key"])


def _is_live(key: dict[str, Any]) -> bool:
    expires = key["expires_at"]
    return key["revoked_at"] is None and (expires is None or datetime.fromisoformat(expires) > now())


def demo_console(settings: Settings, operator_url: str) -> str:
    """A link into the demo client's console."""
    client = OperatorClient(operator_url, settings.operator_tokens[0])
    kept: dict[str, str] = json.loads((settings.home / DEMO_KEY).read_text())
    key = client.get(f"/keys/{kept['id']}")
    return str(client.post(f"/clients/{key['client_id']}/console-sessions")["url"])


@asynccontextmanager
async def _database(settings: Settings, service: str) -> AsyncIterator[Database]:
    assert settings.database_url is not None
    db = await Database.connect(settings.database_url, service, size=1)
    try:
        yield db
    finally:
        await db.close()


HAS_ENDPOINT: Final = "SELECT EXISTS (SELECT FROM endpoints WHERE studio_id = $1 AND id = $2)"


async def _add_partner_samples(settings: Settings, client: OperatorClient) -> None:
    async with _database(settings, "webhooks") as db:
        async with db.connection() as conn:
            # The event may be gone: events are kept for a while.
            if await conn.fetchval(HAS_ENDPOINT, STUDIO_ID, ENDPOINT_ID):
                return
            if await get_event(conn, OPERATOR, EVENT_ID) is not None:
                return
        made = await asyncio.to_thread(_book, settings, client)
        if made is not None:
            async with db.transaction() as conn:
                await _add_webhooks(conn, SecretCipher(settings.webhook_keys), *made)


def _book(settings: Settings, client: OperatorClient) -> tuple[Caller, bytes] | None:
    """The demo key as a caller, and a booking of the demo studio as partners see it.

    None where the demo was changed so that this is not possible any more: a start must not fail for samples.
    """
    kept = json.loads((settings.home / DEMO_KEY).read_text())
    key = client.get(f"/keys/{kept['id']}")
    base = f"http://{settings.host}:{settings.port_of('gateway')}{PREFIX}"
    headers = {"X-Service-Key": kept["key"]}
    body = {
        "class_id": OPEN_CLASS.id,
        "member_id": demo_id("member", "Liam Carter"),
        "class_spot_id": spot_id("R4"),
    }
    write = headers | {"Content-Type": "application/json", "Idempotency-Key": IDEMPOTENCY_KEY}
    booking = _read(urllib.request.Request(f"{base}/bookings/{BOOKING_ID}", headers=headers))
    _read(urllib.request.Request(f"{base}/bookings", json.dumps(body).encode(), write))
    caller = Caller(
        studio_id=STUDIO_ID, client_id=key["client_id"], key_id=key["id"], scopes=frozenset(SCOPES)
    )
    return None if booking is None else (caller, booking)


def _read(request: urllib.request.Request) -> bytes | None:
    """None for a refusal."""
    try:
        with urllib.request.urlopen(request, timeout=60) as response:
            content: bytes = response.read()
    except urllib.error.HTTPError:
        return None
    return content


# The delivery has arrived and the recovery is done, so that the dispatcher has nothing to do.
ADD_DELIVERY = """
WITH numbered AS (UPDATE lanes SET last_sequence = 1 WHERE endpoint_id = $3),
recovered AS (
    INSERT INTO recoveries (studio_id, id, endpoint_id, since, after_sequence, until_sequence, status)
    VALUES ($1, $8, $3, $6, 1, 1, 'done')
)
INSERT INTO deliveries (studio_id, id, endpoint_id, event_id, event_type, sequence, status, attempt_count,
                        created_at, attempts, event_created_at)
VALUES ($1, $2, $3, $4, $5, 1, 'succeeded', 1, $6, $7, $9)
"""


async def _add_webhooks(conn: Connection, cipher: SecretCipher, caller: Caller, booking: bytes) -> None:
    await endpoints.insert(conn, caller, ENDPOINT_ID, ENDPOINT)
    await endpoints.add_secret(conn, STUDIO_ID, ENDPOINT_ID, cipher.encrypt(new_secret()))
    event = Event(
        id=EVENT_ID,
        kind=BookingCreated,
        studio_id=STUDIO_ID,
        location_id=demo_id("location", "brooklyn"),
        resource=EventResource("booking", BOOKING_ID, 1),
        data=Raw(booking),
    )
    (logged,) = await add_to_log(conn, [read_envelope(render(event))])
    at = now()
    attempt = Attempt(at=at, duration_ms=118, response_status=204, response_body="", error=None)
    await conn.execute(
        ADD_DELIVERY,
        STUDIO_ID,
        DELIVERY_ID,
        ENDPOINT_ID,
        EVENT_ID,
        logged.type,
        at,
        [attempt],
        RECOVERY_ID,
        logged.created_at,
    )


CLIENT: Final = "Website"
TOKEN: Final = "Front desk"
KNOWN: Final = "SELECT 1 FROM keys WHERE id = $1"


async def _add_operator_samples(settings: Settings) -> None:
    async with _database(settings, "gateway") as db, db.transaction() as conn:
        if await conn.fetchval(KNOWN, KEY_ID) is None:
            await _add_key_and_token(conn)


async def _add_key_and_token(conn: Connection) -> None:
    key, token = make_key(test=False, known_id=KEY_ID), make_token(STAFF_HEAD, STAFF_TOKEN_ID)
    await keys.add(
        conn,
        key,
        secret_hash=_unusable_hash(key),
        studio_id=STUDIO_ID,
        client_id=await clients.ensure(conn, STUDIO_ID, CLIENT),
        name=CLIENT,
        scopes=("schedule:read",),
        location_ids=None,
        lifetime=None,
    )
    await staff_tokens.add(
        conn, STUDIO_ID, token, name=TOKEN, role="staff", secret_hash=_unusable_hash(token)
    )


def _unusable_hash(key: NewKey) -> bytes:
    """Hashed with the secret itself as the pepper, which no gateway has: the key can never be used."""
    return hash_secret(key.secret, key.secret)
