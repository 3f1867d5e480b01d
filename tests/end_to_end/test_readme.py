"""Follows the README exactly: `studioctl up`, then its commands, to a verified webhook."""

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.harness.readme import first_screen_lines, follow_readme, run_in
from tests.harness.system import ROOT, environment_for, studioctl_up


@pytest.fixture
def newcomer(tmp_path: Path) -> Iterator[tuple[Path, int]]:
    """A folder as a checkout is after `make up`: `.studio/`, `examples/`, and the system running."""
    for name in ("examples", "docs"):
        (tmp_path / name).symlink_to(ROOT / name)
    studioctl = tmp_path / ".venv/bin/studioctl"
    studioctl.parent.mkdir(parents=True)
    studioctl.write_text(f'#!/bin/sh\nPYTHONPATH={ROOT} exec {sys.executable} -m services.cli.main "$@"\n')
    studioctl.chmod(0o755)
    home = tmp_path / ".studio"
    environment = environment_for(home)
    for name in ("STUDIO_WEBHOOK_ALLOW_HTTP", "STUDIO_WEBHOOK_ALLOW_HOSTS"):
        environment.pop(name)
    with studioctl_up(environment, tmp_path / "up.log") as (up, port, _):
        up.wait_for_text("Ctrl-C stops everything")
        yield tmp_path, port


@pytest.mark.timeout(180)
def test_the_readme_leads_from_a_start_to_a_booking_and_a_verified_webhook(
    newcomer: tuple[Path, int],
) -> None:
    """Each line as it is printed, and none that fails; the first screen's lines, too."""
    folder, port = newcomer
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    environment = {**os.environ, "PATH": path, "STUDIO_HOME": str(folder / ".studio")}
    screen = (folder / "up.log").read_text().replace("\nstudioctl ", "\n.venv/bin/studioctl ")
    run_in("bash", "\n".join(first_screen_lines(screen)), folder, environment)
    seconds = follow_readme(folder, port, environment)
    sys.stdout.write(f"the README's lines took {seconds:.1f} s\n")
