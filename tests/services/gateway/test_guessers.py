"""Guesses at keys, tokens and sessions: what they cost the database, and whom they do not delay."""

import asyncio
import json
import time
from collections.abc import Coroutine
from typing import Any

import pytest

from services.gateway.access import OperatorAccess
from services.gateway.errors import InvalidKey
from services.gateway.key_cache import KeyCache
from services.gateway.partner_sessions import PartnerSessions
from services.gateway.routes.console_sign_in import ConsoleSignIn
from services.gateway.routes.operator.port import OperatorPort
from services.gateway.routes.partner import PartnerApi
from services.gateway.rules.console_cookie import OPERATOR_COOKIE, PARTNER_COOKIE
from services.gateway.rules.key_text import (
    LINK_HEAD,
    OPERATOR_SESSION_HEAD,
    SESSION_HEAD,
    STAFF_HEAD,
    make_token,
)
from services.gateway.rules.rate_limit import ClientLimits, FailedKeyLimits
from shared.db.database import Database
from shared.http.client_address import TrustedProxies
from tests.harness.asgi import ask
from tests.harness.console import PAGE


async def ok(scope: Any, receive: Any, send: Any) -> None:
    await send({"type": "http.response.start", "status": 200, "headers": []})


class NoKeys:
    async def authenticate(self, text: str, **how: Any) -> Any:
        raise InvalidKey


def refusing_api(limits: FailedKeyLimits) -> PartnerApi:
    unused: Any = None
    return PartnerApi(
        NoKeys(),  # type: ignore[arg-type]
        {},
        TrustedProxies(["10.0.0.0/8"]),
        sessions=unused,
        request_log=unused,
        failed_keys=limits,
        limits=ClientLimits(),
        own_context=unused,
    )


@pytest.mark.parametrize("headers", [{}, {"X-Service-Key": "guess"}])
async def test_refusals_that_come_at_once_are_spaced(headers: dict[str, str]) -> None:
    """Whether the key is missing or wrong. Here by more than the refusals themselves could take."""
    api, began = refusing_api(FailedKeyLimits()), time.monotonic()
    await asyncio.gather(*(ask(api, "GET", "/partner/v1/key", headers) for _ in range(20)))
    assert time.monotonic() - began >= 0.05 * 19


async def test_refusals_of_one_address_do_not_wait_behind_those_of_another() -> None:
    """A partner that forgot its key is told at once, whoever else has thousands of connections."""
    limits = FailedKeyLimits()
    pauses = [limits.pause("192.0.2.1", 10.0) for _ in range(512)]
    assert pauses[-1] == pytest.approx(511 * 0.05)
    assert limits.pause("192.0.2.2", 20.0) == 0.0


async def test_a_guesser_behind_the_ingress_does_not_use_up_the_others_refusals() -> None:
    """Refused keys are counted for the partner that the ingress names. Naming another address oneself gives
    nobody a new burst.
    """
    api = refusing_api(FailedKeyLimits())

    async def status(peer: str, named: str) -> int:
        headers = {"X-Service-Key": "guess", "X-Forwarded-For": named}
        return int((await ask(api, "GET", "/partner/v1/key", headers, address=peer))["status"])

    # A few more than the burst: refusals are spaced, and meanwhile one more is allowed.
    many = range(FailedKeyLimits.BURST + 4)
    guesses = [await status("10.0.3.7", "203.0.113.9") for _ in many]
    assert 429 in guesses[FailedKeyLimits.BURST :]
    assert await status("10.0.3.7", "198.51.100.4") == 401
    outside = [await status("192.0.2.1", f"203.0.113.{n}") for n in many]
    assert 429 in outside[FailedKeyLimits.BURST :]


PEPPERS = ("a pepper of some length",)
GUESSES = 80
AT_ONCE = 10


class CountedDatabase:
    """The gateway's database, and how often it was used."""

    def __init__(self, db: Database) -> None:
        self._db = db
        self.used = 0

    def connection(self) -> Any:
        self.used += 1
        return self._db.connection()

    def transaction(self) -> Any:
        self.used += 1
        return self._db.transaction()


@pytest.fixture
def db(db: Database) -> Any:
    return CountedDatabase(db)


def partners(db: Any) -> ConsoleSignIn:
    sessions = PartnerSessions(db, PEPPERS, KeyCache(db, PEPPERS, {}))
    return ConsoleSignIn(sessions, FailedKeyLimits(), TrustedProxies())


def operators(db: Any) -> ConsoleSignIn:
    access = OperatorAccess(("the operator token",), db, PEPPERS)
    return ConsoleSignIn(access, FailedKeyLimits(), TrustedProxies())


def made_up(head: str, count: int = GUESSES) -> list[str]:
    return [make_token(head).text for _ in range(count)]


async def send(app: ConsoleSignIn, method: str, *, token: str = "", cookie: str = "") -> int:
    headers = {**PAGE, "Content-Type": "application/json"} | ({"Cookie": cookie} if cookie else {})
    body = json.dumps({"token": token}).encode()
    return int((await ask(app, method, "/console/session", headers, body=body))["status"])


async def check_bounded(db: Any, *guesses: Coroutine[Any, Any, int]) -> None:
    """Before the limit each costs one query, after it a batch of them does."""
    db.used = 0
    statuses: list[int] = []
    for at in range(0, len(guesses), AT_ONCE):
        statuses += await asyncio.gather(*guesses[at : at + AT_ONCE])
    assert statuses[-1] == 429 and statuses.count(429) >= len(guesses) - FailedKeyLimits.BURST - AT_ONCE
    assert db.used < FailedKeyLimits.BURST + AT_ONCE + len(guesses) // 5


async def test_made_up_sign_ins_over_the_limit_are_looked_up_in_batches(db: Any) -> None:
    """Of partners and operators; a real token is taken at the same address."""
    for app, head in ((partners(db), LINK_HEAD), (operators(db), STAFF_HEAD)):
        await check_bounded(db, *(send(app, "POST", token=text) for text in made_up(head)))
    assert await send(app, "POST", token="the operator token") == 200


async def test_made_up_sign_outs_are_limited_too(db: Any) -> None:
    """They are guesses at sessions. One with a cookie that has ended just deletes the cookie."""
    for app, cookie, head in (
        (partners(db), PARTNER_COOKIE, SESSION_HEAD),
        (operators(db), OPERATOR_COOKIE, OPERATOR_SESSION_HEAD),
    ):
        first, *others = made_up(head)
        assert await send(app, "DELETE", cookie=f"{cookie}={first}") == 204
        await check_bounded(db, *(send(app, "DELETE", cookie=f"{cookie}={text}") for text in others))
        assert await send(app, "DELETE") == 204


async def test_made_up_tokens_at_the_operators_api_are_looked_up_in_batches(db: Any) -> None:
    """Also made-up cookies of its console. They get 429 with `Retry-After`; health checks and other addresses
    are exempt. The operator token is known without a query.
    """
    access = OperatorAccess(("the operator token",), db, PEPPERS)
    app = OperatorPort({"/health/live": ok}, {}, access, db, TrustedProxies(), FailedKeyLimits())
    half = GUESSES // 2
    tokens = [("Authorization", f"Bearer {text}") for text in made_up(STAFF_HEAD, half)]
    cookies = [("Cookie", f"{OPERATOR_COOKIE}={text}") for text in made_up(OPERATOR_SESSION_HEAD, half)]

    async def status(name: str, value: str) -> int:
        return int((await ask(app, "GET", "/operator/v1/nothing", {**PAGE, name: value}))["status"])

    await check_bounded(db, *(status(*guess) for guess in [*tokens, *cookies]))
    guess = dict(tokens[:1])
    refused = await ask(app, "GET", "/operator/v1/nothing", guess)
    assert (refused["status"], (b"retry-after", b"1") in refused["headers"]) == (429, True)
    assert (await ask(app, "GET", "/operator/v1/nothing", guess, address="192.0.2.2"))["status"] == 401
    assert (await ask(app, "GET", "/health/live", guess))["status"] == 200
    db.used = 0
    assert (await status("Authorization", "Bearer the operator token"), db.used) == (404, 0)
