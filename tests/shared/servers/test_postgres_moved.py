"""A home that was moved or copied: it keeps its data, and never touches another home's."""

import shutil
import tempfile
from pathlib import Path

import pytest

from shared.servers.child import RunAs
from shared.servers.postgres import EmbeddedPostgres
from shared.servers.problem import ServerProblem
from tests.shared.servers.rows import read, write


async def test_a_moved_home_keeps_its_data(home: Path) -> None:
    """The data folder is named relative to the home."""
    with EmbeddedPostgres.start(home, durable=False) as server:
        await write(server.url, "kept")
    moved = _moved(home)
    with EmbeddedPostgres.start(moved, durable=False) as server:
        assert await read(server.url) == ["kept"]


async def test_a_copied_home_runs_next_to_the_original(home: Path) -> None:
    """Each serves its own data; neither stops the other's server."""
    with EmbeddedPostgres.start(home, durable=False) as server:
        await write(server.url, "original")
    copy = home.with_name("copy")
    shutil.copytree(home, copy, symlinks=True)
    _give_to_the_same_owner(home, copy)
    with (
        EmbeddedPostgres.start(home, durable=False) as first,
        EmbeddedPostgres.start(copy, durable=False) as second,
    ):
        await write(second.url, "copied")
        assert await read(first.url) == ["original"]
        assert sorted(await read(second.url)) == ["copied", "original"]
        assert first.alive and second.alive


def test_missing_data_is_reported_and_not_created_again(home: Path) -> None:
    """An empty system in place of the old one would look like lost data, and overwrite the demo key."""
    EmbeddedPostgres.start(home, durable=False).stop()
    shutil.rmtree(home / "postgres")
    with pytest.raises(ServerProblem, match="is gone"):
        EmbeddedPostgres.start(home, durable=False)


def test_a_copy_never_takes_data_outside_the_original(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where Postgres cannot enter the home its data is elsewhere, and a copied home names the same place."""
    monkeypatch.setattr(RunAs, "can_enter", lambda self, folder: "outside" in str(folder))
    monkeypatch.setattr(tempfile, "gettempdir", lambda: str(home.parent / "outside"))
    with EmbeddedPostgres.start(home, durable=False) as server:
        assert not server.data.is_relative_to(home)
        copy = home.with_name("copy")
        shutil.copytree(home, copy, symlinks=True)
        with pytest.raises(ServerProblem, match="Another run"):
            EmbeddedPostgres.start(copy, durable=False)
        assert server.alive
    with pytest.raises(ServerProblem, match="is a copy of"):
        EmbeddedPostgres.start(copy, durable=False)
    shutil.rmtree(home)
    EmbeddedPostgres.start(copy, durable=False).stop()


def _give_to_the_same_owner(original: Path, copy: Path) -> None:
    """copytree run as root loses the owner of the data folder."""
    for path in (original / "postgres").rglob("*"):
        there = copy / path.relative_to(original)
        shutil.chown(there, path.stat().st_uid, path.stat().st_gid)
    data = (original / "postgres").stat()
    shutil.chown(copy / "postgres", data.st_uid, data.st_gid)


def _moved(home: Path) -> Path:
    return home.rename(home.with_name("moved"))
