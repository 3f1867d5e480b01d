"""Behind an ingress, refused keys are counted for the partner that the ingress names."""

from typing import Any

from services.gateway.errors import InvalidKey
from services.gateway.routes.partner import PartnerApi
from services.gateway.rules.rate_limit import ClientLimits, FailedKeyLimits
from shared.http.client_address import TrustedProxies


class NoKeys:
    async def authenticate(self, text: str, **how: Any) -> Any:
        raise InvalidKey


async def status_of(api: PartnerApi, peer: str, named: str) -> int:
    sent: list[Any] = []

    async def send(message: Any) -> None:
        sent.append(message)

    headers = [(b"x-service-key", b"guess"), (b"x-forwarded-for", named.encode())]
    scope = {
        "type": "http",
        "method": "GET",
        "path": "/partner/v1/key",
        "raw_path": b"/partner/v1/key",
        "query_string": b"",
        "headers": headers,
        "client": (peer, "4711"),
    }
    await api(scope, None, send)  # type: ignore[arg-type]
    return int(sent[0]["status"])


async def test_a_guesser_behind_the_ingress_does_not_use_up_the_others_refusals() -> None:
    """And naming another address itself gives nobody a new burst."""
    unused: Any = None
    api = PartnerApi(
        NoKeys(),  # type: ignore[arg-type]
        {},
        TrustedProxies(["10.0.0.0/8"]),
        sessions=unused,
        request_log=unused,
        failed_keys=FailedKeyLimits(),
        limits=ClientLimits(),
        own_context=unused,
    )
    guesses = [await status_of(api, "10.0.3.7", "203.0.113.9") for _ in range(FailedKeyLimits.BURST + 1)]
    assert guesses[-2:] == [401, 429]
    assert await status_of(api, "10.0.3.7", "198.51.100.4") == 401
    outside = [await status_of(api, "192.0.2.1", f"203.0.113.{n}") for n in range(FailedKeyLimits.BURST + 1)]
    assert outside[-2:] == [401, 429]
