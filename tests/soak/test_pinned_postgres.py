"""The tests run on any Postgres from 15 on. This runs a part of them on the pinned version.

It comes from STUDIO_PINNED_DATABASE_URL, from binaries of that major version on this machine or of a newer
Debian release, or from Docker.
"""

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from shared.servers.postgres import EmbeddedPostgres, find_postgres
from tests.harness.containers import POSTGRES_IMAGE, ContainerPostgres, docker_answers
from tests.harness.databases import connected
from tests.harness.debian_release import fetch_postgres
from tests.harness.servers import home_for_servers
from tests.harness.system import ROOT

MAJOR = int(POSTGRES_IMAGE.partition(":")[2].partition(".")[0])
# Every migration and function, the booking paths with their locks, the event log, the roles.
PART = (
    "tests/shared/db",
    "tests/services/bookings",
    "tests/services/webhooks/test_event_log.py",
    "tests/services/webhooks/test_fan_outs.py",
    "tests/services/webhooks/test_lane_leases.py",
    "tests/services/webhooks/test_log_weeks.py",
    "tests/services/gateway/test_key_cache.py",
    "tests/deploy/test_broker_users.py",
    "tests/deploy/test_autoscaling.py",
)


@contextmanager
def pinned_postgres() -> Iterator[str]:
    if url := os.environ.get("STUDIO_PINNED_DATABASE_URL"):
        yield url
        return
    with home_for_servers() as home:
        binaries = find_postgres(MAJOR) or fetch_postgres(MAJOR, home)
        if binaries is not None:
            with EmbeddedPostgres.start(home, durable=False, binaries=binaries) as embedded:
                yield embedded.url
            return
    if not docker_answers():
        pytest.skip(f"no Postgres {MAJOR}: neither binaries, nor Docker, nor STUDIO_PINNED_DATABASE_URL")
    server = ContainerPostgres()
    yield server.url_of("postgres")
    server.stop()


async def test_a_part_of_the_suite_passes_on_the_pinned_postgres() -> None:
    """The production version is tested too, not only the one on a developer's machine."""
    with pinned_postgres() as url:
        async with connected(url) as conn:
            version = conn.get_server_version()
        assert version.major == MAJOR
        print(f"Postgres {version.major}.{version.micro}")
        command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *PART]
        environment = os.environ | {"STUDIO_DATABASE_URL": url}
        done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout[-5000:] + done.stderr[-2000:]
        print(done.stdout.strip().splitlines()[-1])
