"""Each service runs alone too: gateway and catalog in two processes give the answers of `studioctl up`."""

import os
import subprocess
import sys
from pathlib import Path

import aiohttp
import pytest

from shared.http.caller import CALLER_HEADER, Caller, CallerSigner
from shared.servers.ports import free_port
from tests.harness import import_lines
from tests.harness.process import ROOT, environment_for, serving
from tests.harness.system import RunningSystem, System, embedded_system, new_studio_in

PATHS = (
    "/studio",
    "/locations",
    "/rooms",
    "/class-types",
    "/instructors",
    "/products",
    "/products?active=false",
    "/key",
)


async def test_gateway_and_catalog_alone_give_the_same_answers(
    database_url: str, amqp_url: str, tmp_path: Path
) -> None:
    """The same database behind both: body and ETag are the same, so any replica can answer 304."""
    with embedded_system(tmp_path, database_url) as embedded:
        async with new_studio_in(embedded) as system:
            place = import_lines.location()
            data = [
                place,
                import_lines.room(place["id"]),
                import_lines.class_type(),
                import_lines.instructor(),
                import_lines.product(),
            ]
            await system.import_lines(data)
            key = await system.key()
            embedded_studio = system.studio_id
            answers = [await system.partner(key).get(path) for path in PATHS]
            expected = [(answer.body, answer.headers["ETag"]) for answer in answers]
    gateway_port, catalog_port, operator_port = free_port(), free_port(), free_port()
    shared = environment_for(
        tmp_path,
        STUDIO_DATABASE_URL=database_url,
        STUDIO_AMQP_URL=amqp_url,
        STUDIO_CATALOG_URL=f"http://127.0.0.1:{catalog_port}",
        STUDIO_OPERATOR_PORT=str(operator_port),
    )
    # Each service has its own key, which the gateway knows.
    keys = {"catalog": {"STUDIO_CALLER_KEY": "c" * 32}, "gateway": {"STUDIO_CALLER_KEY_CATALOG": "c" * 32}}
    ports = {"catalog": catalog_port, "gateway": gateway_port}
    processes = [serving([name], shared | keys[name], tmp_path, port) for name, port in ports.items()]
    try:
        for process in processes:
            process.start()
        for process in processes:
            process.wait_ready()
        async with aiohttp.ClientSession() as session:
            alone = System(RunningSystem(gateway_port, operator_port, "", tmp_path), session)
            client = alone.partner(key)
            answers = [await client.get(path) for path in PATHS]
            assert [(answer.body, answer.headers["ETag"]) for answer in answers] == expected
            for path, (_, tag) in zip(PATHS, expected, strict=True):
                again = await client.send("GET", path, headers={"If-None-Match": tag})
                assert (again.status, again.body) == (304, b"")
            missing = await client.get("/classes")
            assert (missing.status, missing.code) == (503, "service_unavailable")
            assert "Retry-After" in missing.headers
            await refuses_forgeries(session, f"http://127.0.0.1:{catalog_port}/studio", embedded_studio)
    finally:
        for process in processes:
            process.stop()


async def refuses_forgeries(session: aiohttp.ClientSession, url: str, studio_id: str) -> None:
    """Bypassing the gateway fails with another service's key, and without the route's scope."""
    read = Caller(studio_id=studio_id, scopes=frozenset({"studio:read"}))
    other = Caller(studio_id=studio_id, scopes=frozenset({"schedule:read", "bookings:write"}))
    for key, caller, expected in (
        ("c" * 32, read, 200),
        ("c" * 32, other, 403),
        ("b" * 32, read, 401),
        ("CHANGE-ME", read, 401),
        ("", read, 401),
    ):
        headers = {CALLER_HEADER.decode(): CallerSigner((key,)).sign(caller).decode()}
        async with session.get(url, headers=headers) as answer:
            assert answer.status == expected, (key, await answer.text())


@pytest.mark.parametrize(
    ("service", "missing"),
    [("gateway", "STUDIO_KEY_PEPPER"), ("catalog", "STUDIO_CALLER_KEY"), ("webhooks", "STUDIO_WEBHOOK_KEY")],
)
def test_serve_says_which_secret_is_missing(service: str, missing: str, tmp_path: Path) -> None:
    """One sentence on stderr and exit code 1, before anything is opened."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("STUDIO_")}
    done = subprocess.run(
        [sys.executable, "-m", "services.cli.main", "serve", service],
        env=kept | {"STUDIO_HOME": str(tmp_path)},
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 1
    assert missing in done.stderr
    assert "Traceback" not in done.stderr
