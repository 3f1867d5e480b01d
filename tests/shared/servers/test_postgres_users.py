"""Root, ordinary users, folders that one of them cannot use, and binaries that are not the machine's own."""

import asyncio
import json
import multiprocessing
import os
import pwd
import shutil
import stat
from collections.abc import Callable
from multiprocessing.connection import Connection
from pathlib import Path

import pytest

from shared.servers.child import RunAs
from shared.servers.ports import free_port
from shared.servers.postgres import SETTINGS, EmbeddedPostgres, launch, wait_until_ready
from shared.servers.postgres_binaries import PostgresBinaries, find_postgres, in_the_wheel
from shared.servers.postgres_data import make_data
from tests.shared.servers.rows import one_value, read, write

as_root = pytest.mark.skipif(os.geteuid() != 0, reason="is about running as root")


@pytest.fixture
def closed(tmp_path: Path) -> Path:
    """A folder that only its owner can enter, as root's home is."""
    tmp_path.chmod(0o700)
    return tmp_path


def mode_of(folder: Path) -> int:
    return stat.S_IMODE(folder.stat().st_mode)


def wheel_inside(folder: Path) -> PostgresBinaries:
    real = max(in_the_wheel(), key=lambda binaries: binaries.major)
    package = real.folder.parent.parent
    for name in (package.name, f"{package.name}.libs"):
        (folder / name).symlink_to(package.with_name(name))
    return PostgresBinaries(folder / package.name / real.folder.parent.name / "bin", real.major, "", True)


@as_root
async def test_data_lies_elsewhere_when_the_server_cannot_enter_the_home(closed: Path) -> None:
    """Root's own folders stay closed: the data goes where the server can reach it, and home records where."""
    with EmbeddedPostgres.start(closed / "home", durable=False) as first:
        await write(first.url, "kept")
        elsewhere = first.data
    try:
        assert not elsewhere.is_relative_to(closed)
        assert json.loads((closed / "home" / "postgres.json").read_bytes())["data"] == str(elsewhere)
        with EmbeddedPostgres.start(closed / "home", durable=False) as second:
            assert await read(second.url) == ["kept"]
        assert mode_of(closed) == 0o700
    finally:
        shutil.rmtree(elsewhere.parent)


@as_root
def test_a_user_namespace_serves_where_root_cannot_change_user(home: Path) -> None:
    """The second way around Postgres's refusal needs no other user at all."""
    run_as = RunAs(0, 0, namespace=True)
    if not run_as.works():
        pytest.skip("this machine allows no user namespaces")
    binaries = find_postgres()
    assert binaries is not None
    home.mkdir()
    make_data(binaries, home / "postgres", run_as, "secret", durable=False)
    port = free_port()
    child = launch(binaries, home / "postgres", port, run_as, home / "postgres.log", SETTINGS)
    try:
        assert wait_until_ready(child, home / "postgres")
        assert (home / "postgres").stat().st_uid == 0
        url = f"postgresql://postgres:secret@127.0.0.1:{port}/postgres"
        assert asyncio.run(one_value(url, "SELECT 1")) == 1
    finally:
        assert child.stop(timeout=10)


def as_nobody(work: Callable[[], str]) -> str:
    """In a fork of the user nobody: root's interpreter may lie where nobody cannot reach it."""
    if os.geteuid() != 0:
        return work()
    context = multiprocessing.get_context("fork")
    receiver, sender = context.Pipe(duplex=False)
    child = context.Process(target=_drop_and_work, args=(work, sender))
    child.start()
    sender.close()
    response: str = receiver.recv()
    child.join(20)
    return response


def _drop_and_work(work: Callable[[], str], sender: "Connection[str, str]") -> None:
    nobody = pwd.getpwnam("nobody")
    os.environ["HOME"] = "/"  # root's own is closed now, and asyncpg looks for certificates in it
    os.setgroups([])
    os.setgid(nobody.pw_gid)
    os.setuid(nobody.pw_uid)
    try:
        sender.send(work())
    except BaseException as error:
        sender.send(repr(error))


def test_an_ordinary_user_starts_it_twice(home: Path) -> None:
    """No privilege is needed for anything."""
    home.parent.chmod(0o777)

    def start_twice() -> str:
        with EmbeddedPostgres.start(home, durable=False) as first:
            asyncio.run(write(first.url, "kept"))
        with EmbeddedPostgres.start(home, durable=False) as second:
            return ",".join(asyncio.run(read(second.url)))

    assert as_nobody(start_twice) == "kept"


async def test_the_wheels_binaries_serve_as_well(home: Path, closed: Path) -> None:
    """A machine without Postgres has one through the Python package.

    A virtualenv inside root's home is closed to the server's user, and stays closed: they are copied.
    """
    with EmbeddedPostgres.start(home, durable=False, binaries=wheel_inside(closed)) as server:
        assert await one_value(server.url, "SELECT lower('É')") == "é"
        assert server.data == home / "postgres"
        # Postgres refuses root, so as root only the server changes user.
        assert os.geteuid() != 0 or server.data.stat().st_uid != 0
    assert mode_of(closed) == 0o700
