"""First and later starts of a private Postgres, and the reasons for which it does not start."""

import json
import socket
import stat
import time
from pathlib import Path

import pytest

from shared.servers.postgres import EmbeddedPostgres
from shared.servers.problem import ServerProblem
from tests.shared.servers.rows import one_value, read, write


async def test_a_second_start_keeps_data_and_port_and_is_fast(home: Path) -> None:
    """`make up` twice is the same system, up again within seconds."""
    with EmbeddedPostgres.start(home) as first:
        await write(first.url, "kept")
        port = first.port
    begun = time.monotonic()
    with EmbeddedPostgres.start(home) as second:
        assert time.monotonic() - begun < 5
        assert (second.port, await read(second.url)) == (port, ["kept"])
        assert await one_value(second.url, "SHOW fsync") == "on"
        assert await one_value(second.url, "SHOW timezone") == "UTC"
    assert not second.alive


async def test_only_the_owner_reads_the_password_and_nobody_enters_without_it(home: Path) -> None:
    """The superuser's password is private and needed, on loopback too."""
    with EmbeddedPostgres.start(home, durable=False) as server:
        state = home / "postgres.json"
        assert stat.S_IMODE(state.stat().st_mode) == 0o600
        password = json.loads(state.read_bytes())["password"]
        with pytest.raises(Exception, match="password authentication failed"):
            await one_value(server.url.replace(password, "guess"), "SELECT 1")


async def test_a_taken_port_is_left_to_its_owner(home: Path) -> None:
    """When another program took the port in the meantime, the server moves and records where to."""
    with EmbeddedPostgres.start(home, durable=False) as first:
        port = first.port
    with socket.create_server(("127.0.0.1", port)), EmbeddedPostgres.start(home, durable=False) as second:
        assert second.port != port
        assert json.loads((home / "postgres.json").read_bytes())["port"] == second.port
        assert await one_value(second.url, "SELECT 1") == 1


def test_a_lost_password_is_reported_before_anything_starts(home: Path) -> None:
    """Data that cannot be opened any more is neither overwritten nor started."""
    EmbeddedPostgres.start(home, durable=False).stop()
    (home / "postgres.json").unlink()
    with pytest.raises(ServerProblem, match=r"no postgres\.json"):
        EmbeddedPostgres.start(home)


def test_data_of_a_missing_version_is_named(home: Path) -> None:
    """Data made by a Postgres that is gone is never given to another one."""
    server = EmbeddedPostgres.start(home, durable=False)
    server.stop()
    (server.data / "PG_VERSION").write_text("9\n")
    with pytest.raises(ServerProblem, match="was created by Postgres 9"):
        EmbeddedPostgres.start(home)


def test_the_reason_is_in_the_sentence_when_the_server_refuses(home: Path) -> None:
    """What the server wrote last is what the person at the terminal reads."""
    server = EmbeddedPostgres.start(home, durable=False)
    server.stop()
    with (server.data / "postgresql.conf").open("a") as config:
        config.write("no_such_setting = 1\n")
    with pytest.raises(ServerProblem, match=r"no_such_setting|configuration file"):
        EmbeddedPostgres.start(home)
