"""`studioctl up` on a terminal: a pipe never shows the progress bar that once crashed it."""

import sys
from pathlib import Path

import pytest

from shared.servers.ports import free_port
from tests.harness.system import ROOT, environment_for
from tests.harness.terminal import on_a_terminal


@pytest.mark.timeout(180)
def test_up_starts_shows_a_key_and_stops_on_ctrl_c_first_and_second_time(tmp_path: Path) -> None:
    """Both starts reach the welcome screen with a key; Ctrl-C ends each with exit code 0 and no traceback."""
    for _ in range(2):
        words = [sys.executable, "-m", "services.cli.main", "up"]
        words += ["--port", str(free_port()), "--operator-port", str(free_port())]
        with on_a_terminal(words, environment_for(tmp_path / "home"), ROOT) as terminal:
            terminal.wait_for("Ctrl-C stops everything")
            assert "spk_live_" in terminal.text
            terminal.interrupt()
            assert terminal.exit_code() == 0
            assert "Traceback" not in terminal.text
