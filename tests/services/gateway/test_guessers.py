"""Guesses at keys and operator tokens are limited per address; a right token is never limited."""

from typing import Any

from services.gateway.access import OperatorAccess
from services.gateway.errors import InvalidKey
from services.gateway.routes.operator.port import OperatorPort
from services.gateway.routes.partner import PartnerApi
from services.gateway.rules.rate_limit import FailedKeyLimits
from shared.http.client_address import TrustedProxies
from shared.routing import OperatorRoute
from tests.harness.asgi import ask


async def ok(scope: Any, receive: Any, send: Any) -> None:
    await send({"type": "http.response.start", "status": 200, "headers": []})


async def test_a_guesser_is_slowed_down_on_every_path() -> None:
    """A burst of refusals, then 429 with `Retry-After`. Health checks and other addresses are exempt."""
    access, limits = OperatorAccess(("right",), None, ()), FailedKeyLimits()
    routes = {OperatorRoute("GET", path): ok for path in ("/studios", "/export", "/queues")}
    no_database: Any = None
    app = OperatorPort({"/health/live": ok}, routes, access, no_database, TrustedProxies(), limits)
    paths = [f"/operator/v1/{name}" for name in ("studios", "export", "queues", "unknown")]

    async def guess(token: str, address: str, path: str) -> Any:
        return await ask(app, "GET", path, {"Authorization": f"Bearer {token}"}, address=address)

    guesses = [
        await guess(f"guess-{number}", "192.0.2.1", paths[number % 4])
        for number in range(FailedKeyLimits.BURST + 4)
    ]
    assert [answer["status"] for answer in guesses] == [401] * FailedKeyLimits.BURST + [429] * 4
    assert (b"retry-after", b"1") in guesses[-1]["headers"]
    assert (await guess("right", "192.0.2.1", paths[0]))["status"] == 200
    assert (await guess("guess", "192.0.2.2", paths[0]))["status"] == 401
    assert (await guess("guess", "192.0.2.1", "/health/live"))["status"] == 200


class NoKeys:
    async def authenticate(self, text: str, **how: Any) -> Any:
        raise InvalidKey


async def test_a_guesser_behind_the_ingress_does_not_use_up_the_others_refusals() -> None:
    """Refused keys are counted for the partner that the ingress names. Naming another address oneself gives
    nobody a new burst.
    """
    api = PartnerApi(NoKeys(), {}, TrustedProxies(["10.0.0.0/8"]))  # type: ignore[arg-type]

    async def status(peer: str, named: str) -> int:
        headers = {"X-Service-Key": "guess", "X-Forwarded-For": named}
        return int((await ask(api, "GET", "/partner/v1/key", headers, address=peer))["status"])

    guesses = [await status("10.0.3.7", "203.0.113.9") for _ in range(FailedKeyLimits.BURST + 1)]
    assert guesses[-2:] == [401, 429]
    assert await status("10.0.3.7", "198.51.100.4") == 401
    outside = [await status("192.0.2.1", f"203.0.113.{n}") for n in range(FailedKeyLimits.BURST + 1)]
    assert outside[-2:] == [401, 429]
