"""The Python client as a package: it is built and installed, and the README's code runs as printed."""

import asyncio
import os
import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from clients.generate.document import read_document
from shared.servers.ports import free_port
from studio_partner import __version__
from tests.harness.bookable_studio import bookable
from tests.harness.process import ROOT
from tests.harness.system import System

PACKAGE = ROOT / "clients/python"
BLOCKS = re.compile(r"```python\n(.*?)```", re.DOTALL)


def run(*words: str | Path, folder: Path, **environment: str) -> "subprocess.CompletedProcess[str]":
    """Finds nothing of this checkout by accident."""
    clean = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "VIRTUAL_ENV")}
    given = clean | environment
    return subprocess.run(words, cwd=folder, env=given, capture_output=True, text=True, timeout=120)


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("package")
    source = folder / "source"
    shutil.copytree(PACKAGE, source, ignore=shutil.ignore_patterns("__pycache__", "dist"))
    built = run(sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", folder, folder=source)
    assert built.returncode == 0, built.stderr
    [wheel] = folder.glob("*.whl")
    return wheel


async def test_the_readme_runs_as_printed(wheel: Path, system: System, tmp_path: Path) -> None:
    """In an environment that has the wheel and its dependencies. Only the receiver's port differs."""
    uv, python = Path(sys.executable).with_name("uv"), tmp_path / "environment/bin/python"
    made = run(uv, "venv", "-q", "--python", sys.executable, python.parents[1], folder=tmp_path)
    assert made.returncode == 0, made.stderr
    installed = run(uv, "pip", "install", "-q", "--python", python, wheel, folder=tmp_path)
    if installed.returncode:
        pytest.skip(f"its dependencies cannot be installed: {installed.stderr.strip().splitlines()[-1]}")
    program = "\n".join(BLOCKS.findall((PACKAGE / "README.md").read_text()))
    assert program.count("3000") == 2
    (tmp_path / "tour.py").write_text(program.replace("3000", str(free_port())))
    await system.import_lines(bookable().lines)
    known = {"STUDIO_URL": f"{system.running.partner_url}/partner/v1", "STUDIO_KEY": await system.key()}
    done = await asyncio.to_thread(run, python, "tour.py", folder=tmp_path, **known)
    assert done.returncode == 0, done.stderr
    for said in (" free\n", "booked: ", "received: webhook.test", "followed: ", ": 1 bookings"):
        assert said in done.stdout, done.stdout


def test_the_wheel_says_what_it_is(wheel: Path) -> None:
    """Typed, with its licence, its version, and two dependencies."""
    assert f"studio_partner-{__version__}-py3-none-any" in wheel.name
    with zipfile.ZipFile(wheel) as packed:
        names = packed.namelist()
        [metadata] = [name for name in names if name.endswith("METADATA")]
        described = packed.read(metadata).decode()
    assert "studio_partner/py.typed" in names
    assert any(name.endswith("LICENSE") for name in names)
    assert [line for line in described.splitlines() if line.startswith("Requires-Dist")] == [
        "Requires-Dist: httpx2<3,>=2.14",
        "Requires-Dist: msgspec>=0.19",
    ]
    assert read_document().api_version in (PACKAGE / "README.md").read_text()
