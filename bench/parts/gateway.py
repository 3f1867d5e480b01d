"""python -m bench.parts.gateway CLIENT: the gateway with another HTTP client in place of its own."""

import os
import sys

from bench.parts.clients import AiohttpUpstream, PyreqwestUpstream
from services.cli.database import run_async
from services.gateway.app import UPSTREAMS, gateway_listeners, open_gateway
from shared.http.server import catch_stop_signals, listening
from shared.observability.log import set_up_logging
from shared.settings import Settings, read_settings

CLIENTS: dict[str, type[AiohttpUpstream] | type[PyreqwestUpstream]] = {
    "aiohttp": AiohttpUpstream,
    "pyreqwest": PyreqwestUpstream,
}


async def serve(settings: Settings, client: str) -> None:
    upstreams = {
        name: CLIENTS[client](settings.url_of(name), response_timeout=settings.answer_timeout)
        for name in UPSTREAMS
    }
    async with (
        open_gateway(settings, upstreams, upstreams) as gateway,
        listening(gateway_listeners(settings, gateway.partner_app, gateway.operator_app)),
    ):
        await catch_stop_signals()


if __name__ == "__main__":
    # After our own packages, so that it only adds what we do not have.
    sys.path.append(os.environ["BENCH_PACKAGES"])
    given = read_settings(os.environ)
    set_up_logging(given, "gateway")
    run_async(serve(given, sys.argv[1]))
