"""Guesses at `/console/session` and `/operator/`: what they cost the database, and whom they do not delay."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from services.gateway.access import OperatorAccess
from services.gateway.key_cache import KeyCache
from services.gateway.partner_sessions import PartnerSessions
from services.gateway.routes.console_sign_in import ConsoleSignIn
from services.gateway.routes.operator.port import OperatorPort
from services.gateway.rules.console_cookie import OPERATOR_COOKIE, PARTNER_COOKIE
from services.gateway.rules.key_text import (
    LINK_HEAD,
    OPERATOR_SESSION_HEAD,
    SESSION_HEAD,
    STAFF_HEAD,
    make_token,
)
from services.gateway.rules.rate_limit import FailedKeyLimits
from shared.db.database import Connection, Database
from shared.http.client_address import TrustedProxies
from tests.harness.console import PAGE
from tests.harness.database_layout import open_database

PEPPERS = ("a pepper of some length",)
GUESSES = 150
AT_ONCE = 10


class CountedDatabase:
    """The gateway's database, and how often it was used."""

    def __init__(self, db: Database) -> None:
        self._db = db
        self.used = 0

    @asynccontextmanager
    async def connection(self) -> AsyncIterator[Connection]:
        self.used += 1
        async with self._db.connection() as conn:
            yield conn

    @asynccontextmanager
    async def transaction(self) -> AsyncIterator[Connection]:
        self.used += 1
        async with self._db.transaction() as conn:
            yield conn


@pytest.fixture
async def db(database_url: str) -> AsyncIterator[Any]:
    opened = await open_database(database_url, "gateway", size=4)
    yield CountedDatabase(opened)
    await opened.close()


def partners(db: Any) -> ConsoleSignIn:
    sessions = PartnerSessions(db, PEPPERS, KeyCache(db, PEPPERS, {}))
    return ConsoleSignIn(sessions, FailedKeyLimits(), TrustedProxies())


def operators(db: Any) -> ConsoleSignIn:
    access = OperatorAccess(("the operator token",), db, PEPPERS)
    return ConsoleSignIn(access, FailedKeyLimits(), TrustedProxies())


async def send(app: ConsoleSignIn, method: str, *, token: str = "", cookie: str = "") -> int:
    sent: list[Any] = []
    headers = {**PAGE, "Content-Type": "application/json"} | ({"Cookie": cookie} if cookie else {})

    async def receive() -> Any:
        return {"type": "http.request", "body": json.dumps({"token": token}).encode(), "more_body": False}

    async def answer(message: Any) -> None:
        sent.append(message)

    scope: Any = {
        "type": "http",
        "method": method,
        "path": "/console/session",
        "headers": [(name.lower().encode(), value.encode()) for name, value in headers.items()],
        "client": ("192.0.2.1", "1"),
    }
    await app(scope, receive, answer)
    return int(sent[0]["status"])


async def many(*requests: Any) -> list[int]:
    answers: list[int] = []
    for at in range(0, len(requests), AT_ONCE):
        answers += await asyncio.gather(*requests[at : at + AT_ONCE])
    return answers


async def test_made_up_sign_ins_over_the_limit_are_looked_up_in_batches(db: Any) -> None:
    """Before the limit each costs one query, after it a batch of them does."""
    for app, guess in ((partners(db), LINK_HEAD), (operators(db), STAFF_HEAD)):
        db.used = 0
        answers = await many(*(send(app, "POST", token=make_token(guess).text) for _ in range(GUESSES)))
        assert answers[-1] == 429 and answers.count(429) >= GUESSES - FailedKeyLimits.BURST - AT_ONCE
        assert db.used < FailedKeyLimits.BURST + AT_ONCE + GUESSES // 5
    assert await send(app, "POST", token="the operator token") == 200


async def test_made_up_sign_outs_are_limited_too(db: Any) -> None:
    """They are guesses at sessions. One with a cookie that has ended just deletes the cookie."""
    guesses = (
        (partners(db), [f"{PARTNER_COOKIE}={make_token(SESSION_HEAD).text}" for _ in range(GUESSES)]),
        (
            operators(db),
            [f"{OPERATOR_COOKIE}={make_token(OPERATOR_SESSION_HEAD).text}" for _ in range(GUESSES)],
        ),
    )
    for app, cookies in guesses:
        db.used = 0
        assert await send(app, "DELETE", cookie=cookies[0]) == 204
        answers = await many(*(send(app, "DELETE", cookie=cookie) for cookie in cookies))
        assert answers[-1] == 429 and answers.count(429) >= GUESSES - FailedKeyLimits.BURST - AT_ONCE
        assert db.used < FailedKeyLimits.BURST + AT_ONCE + GUESSES // 5
        assert await send(app, "DELETE") == 204


async def test_made_up_tokens_at_the_operators_api_are_looked_up_in_batches(db: Any) -> None:
    """Also made-up cookies of its console. The operator token is known without a query."""
    access = OperatorAccess(("the operator token",), db, PEPPERS)
    app = OperatorPort({}, {}, access, db, TrustedProxies(), FailedKeyLimits())
    tokens = [("Authorization", f"Bearer {make_token(STAFF_HEAD).text}") for _ in range(GUESSES // 2)]
    cookies = [
        ("Cookie", f"{OPERATOR_COOKIE}={make_token(OPERATOR_SESSION_HEAD).text}") for _ in range(GUESSES // 2)
    ]
    answers = await many(*(ask(app, *guess) for guess in [*tokens, *cookies]))
    assert answers[-1] == 429 and answers.count(429) >= GUESSES - FailedKeyLimits.BURST - AT_ONCE
    assert db.used < FailedKeyLimits.BURST + AT_ONCE + GUESSES // 5
    db.used = 0
    assert (await ask(app, "Authorization", "Bearer the operator token"), db.used) == (404, 0)


async def ask(app: OperatorPort, name: str, value: str) -> int:
    sent: list[Any] = []

    async def answer(message: Any) -> None:
        sent.append(message)

    headers = {**PAGE, name: value}
    scope: Any = {
        "type": "http",
        "method": "GET",
        "path": "/operator/v1/nothing",
        "headers": [(name.lower().encode(), value.encode()) for name, value in headers.items()],
        "client": ("192.0.2.1", "1"),
    }
    await app(scope, None, answer)  # type: ignore[arg-type]
    return int(sent[0]["status"])
