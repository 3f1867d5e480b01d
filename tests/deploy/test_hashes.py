"""Nothing is installed that is not pinned by hash, the installer included."""

import re
from pathlib import Path

import pytest

from deploy import install

PROJECT = Path(__file__).parents[2]
LOCKS = sorted([*PROJECT.glob("deploy/*.lock"), *PROJECT.glob("bench/*.lock")])


@pytest.mark.parametrize("lock", LOCKS, ids=[str(path.relative_to(PROJECT)) for path in LOCKS])
def test_every_pinned_package_has_a_hash(lock: Path) -> None:
    pinned = re.split(r"^(?=\S)", lock.read_text(), flags=re.MULTILINE)[1:]
    assert len(pinned) == install.count(lock) > 0
    assert [package for package in pinned if "--hash=sha256:" not in package] == []


@pytest.mark.parametrize("uv_works", [True, False], ids=["with uv", "with pip"])
def test_every_package_is_checked_when_it_is_installed(
    monkeypatch: pytest.MonkeyPatch, uv_works: bool
) -> None:
    """Only the project itself has no hash, and it brings no dependencies."""
    commands: list[list[str]] = []

    def record(title: str, command: list[str]) -> None:
        commands.append(command)
        if not uv_works and command[0].endswith("uv"):
            raise install.StepFailed("no uv here")

    monkeypatch.setattr(install, "run", record)
    install.install(Path("venv/bin/python"), Path("deploy/requirements.lock"))
    assert any(install.TOOLS in command for command in commands)
    assert any("deploy/requirements.lock" in command for command in commands)
    for command in commands:
        assert "--require-hashes" in command or "--no-deps" in command, command
