"""The way of a newcomer, from a clean clone and an empty home to a verified webhook."""

import subprocess
import sys

import pytest

from tests.harness.system import ROOT


@pytest.mark.timeout(900)
def test_a_clean_clone_leads_to_a_booking_and_a_verified_webhook() -> None:
    """`make up`, then the lines that the README prints. `make fresh` prints how long each part took."""
    done = subprocess.run([sys.executable, "-m", "tests.fresh"], cwd=ROOT, capture_output=True, text=True)
    sys.stdout.write(done.stdout)
    assert done.returncode == 0, done.stdout + done.stderr
