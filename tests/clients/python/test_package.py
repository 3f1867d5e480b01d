"""The Python client as a package: it installs, and the README's code runs as printed."""

import asyncio
import re
import zipfile
from pathlib import Path

import pytest

from clients.generate import python as printer
from clients.generate.document import read_document
from shared.servers.ports import free_port
from studio_partner import __version__
from tests.clients.drivers import PYTHON_SOURCE
from tests.clients.python.package import PACKAGE, NotHere, install, run
from tests.harness.bookable_studio import bookable
from tests.harness.system import System

BLOCKS = re.compile(r"```python\n(.*?)```", re.DOTALL)
MAX_LINES = 1200


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The Python of an environment with the wheel."""
    try:
        return install(tmp_path_factory.mktemp("package"))
    except NotHere as reason:
        pytest.skip(str(reason))


def tour() -> str:
    return "\n".join(BLOCKS.findall((PACKAGE / "README.md").read_text()))


async def test_the_readme_runs_as_printed(installed: Path, system: System, tmp_path: Path) -> None:
    """In an environment that has the wheel and its dependencies. Only the receiver's port differs."""
    program = tour()
    assert program.count("3000") == 2
    (tmp_path / "tour.py").write_text(program.replace("3000", str(free_port())))
    await system.import_lines(bookable().lines)
    url = f"{system.running.partner_url}/partner/v1"
    environment = {"STUDIO_URL": url, "STUDIO_KEY": await system.key()}
    done = await asyncio.to_thread(run, installed, "tour.py", folder=tmp_path, environment=environment)
    assert done.returncode == 0, done.stderr
    for said in (" free\n", "booked: ", "received: webhook.test", "followed: ", ": 1 bookings"):
        assert said in done.stdout, done.stdout


def test_the_wheel_says_what_it_is(installed: Path) -> None:
    """Typed, with its licence, its version, and two dependencies."""
    [wheel] = installed.parents[2].glob("*.whl")
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


def test_what_is_written_written_is_small() -> None:
    folder = PYTHON_SOURCE / "studio_partner"
    written = set(folder.glob("*.py")) - set(printer.files(read_document()))
    assert sum(len(file.read_text().splitlines()) for file in written) <= MAX_LINES
