"""Nothing is installed that is not pinned by hash, the installer included, and the bill of materials names
exactly that.
"""

import re
from pathlib import Path

import pytest

from deploy import install
from deploy.sbom import bill_of_materials

PROJECT = Path(__file__).parents[2]
LOCK = (PROJECT / "deploy" / "requirements.lock").read_text()
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


def test_every_pinned_package_is_in_the_bill_with_its_hashes() -> None:
    """Nothing is missing and nothing is added."""
    document = bill_of_materials(LOCK, "1.0.0")
    pinned = re.findall(r"^([a-z0-9._-]+)==([^ ;\\]+)", LOCK, re.MULTILINE | re.IGNORECASE)
    parts = document["components"]
    assert [(part["name"], part["version"]) for part in parts] == pinned
    assert len(pinned) > 20
    assert sum(len(part["hashes"]) for part in parts) == LOCK.count("--hash=sha256:")
    assert all(part["hashes"] for part in parts)
    assert document["dependencies"][0]["dependsOn"] == [part["bom-ref"] for part in parts]
    assert (document["bomFormat"], document["specVersion"]) == ("CycloneDX", "1.5")


def test_two_bills_can_be_compared() -> None:
    """The same lock gives the same document; another one gives another serial number."""
    assert bill_of_materials(LOCK, "1.0.0") == bill_of_materials(LOCK, "1.0.0")
    other = bill_of_materials(LOCK + "\n", "1.0.0")
    assert other["serialNumber"] != bill_of_materials(LOCK, "1.0.0")["serialNumber"]
