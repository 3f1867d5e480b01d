"""Follows the README exactly: `studioctl up`, then its commands, to a verified webhook."""

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.harness.readme import follow_readme
from tests.harness.system import ROOT, environment_for, studioctl_up


@pytest.fixture
def newcomer(tmp_path: Path) -> Iterator[tuple[Path, int]]:
    """A folder as a checkout is after `make up`: `.studio/`, `examples/`, and the system running."""
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    home = tmp_path / ".studio"
    environment = environment_for(home)
    for name in ("STUDIO_WEBHOOK_ALLOW_HTTP", "STUDIO_WEBHOOK_ALLOW_HOSTS"):
        environment.pop(name)
    with studioctl_up(environment, tmp_path / "up.log") as (up, port, _):
        up.wait_for((home / "demo_key.json").exists)
        yield tmp_path, port


@pytest.mark.timeout(180)
def test_the_readme_leads_from_a_start_to_a_booking_and_a_verified_webhook(
    newcomer: tuple[Path, int],
) -> None:
    """Each line as it is printed."""
    folder, port = newcomer
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    seconds = follow_readme(folder, port, os.environ | {"PATH": path})
    sys.stdout.write(f"the README's lines took {seconds:.1f} s\n")
