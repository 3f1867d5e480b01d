"""Wrong operator tokens are limited per address; the right token is never limited."""

from typing import Any

from services.gateway.access import OperatorAccess
from services.gateway.routes.operator.port import OperatorPort
from services.gateway.rules.rate_limit import FailedKeyLimits
from shared.http.client_address import TrustedProxies
from shared.routing import OperatorRoute
from tests.harness.system import System


async def ok(scope: Any, receive: Any, send: Any) -> None:
    await send({"type": "http.response.start", "status": 200, "headers": []})


async def ask(app: OperatorPort, token: str, address: str, path: str) -> Any:
    sent: list[Any] = []

    async def send(message: Any) -> None:
        sent.append(message)

    headers = [(b"authorization", f"Bearer {token}".encode())]
    scope = {"type": "http", "method": "GET", "path": path, "headers": headers, "client": (address, "1")}
    await app(scope, None, send)  # type: ignore[arg-type]
    return sent[0]


async def test_a_guesser_is_slowed_down_on_every_path() -> None:
    """A burst of refusals, then 429 with `Retry-After`. Health checks and other addresses are exempt."""
    routes = {OperatorRoute("GET", path): ok for path in ("/studios", "/export", "/queues")}
    no_database: Any = None
    access, limits = OperatorAccess(("right",), no_database, ()), FailedKeyLimits()
    app = OperatorPort({"/health/live": ok}, routes, access, no_database, TrustedProxies(), limits)
    paths = ("/operator/v1/studios", "/operator/v1/export", "/operator/v1/queues", "/operator/v1/unknown")
    guesses = [
        await ask(app, f"guess-{number}", "192.0.2.1", paths[number % 4])
        for number in range(FailedKeyLimits.BURST + 4)
    ]
    assert [answer["status"] for answer in guesses] == [401] * FailedKeyLimits.BURST + [429] * 4
    assert (b"retry-after", b"1") in guesses[-1]["headers"]
    assert (await ask(app, "right", "192.0.2.1", paths[0]))["status"] == 200
    assert (await ask(app, "guess", "192.0.2.2", paths[0]))["status"] == 401
    assert (await ask(app, "guess", "192.0.2.1", "/health/live"))["status"] == 200


async def test_the_operators_port_is_limited_so(system: System) -> None:
    """The real operators' app has the limit in front: a single wrong token still gets its 401."""
    wrong = await system.operator.send("GET", "/studios", headers={"Authorization": "Bearer wrong"})
    assert wrong.status in (401, 429)
    assert (await system.operator.get("/studios")).status == 200
