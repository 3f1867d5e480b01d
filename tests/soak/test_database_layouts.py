"""The whole suite with the services behind PgBouncer, and with one database per service."""

import os
import subprocess
import sys

import pytest

from tests.harness.database_layout import VARIABLE, Layout
from tests.harness.pgbouncer import TRANSACTION_MODE_SINCE, find_pgbouncer, pgbouncer_version
from tests.harness.system import ROOT


@pytest.mark.parametrize("layout", [Layout.POOLER, Layout.SEPARATE])
def test_the_whole_suite_passes_in_every_layout(layout: Layout) -> None:
    """What a test proves about one database holds for the other layouts that operators may choose."""
    if layout is Layout.POOLER:
        command = find_pgbouncer()
        if command is None or pgbouncer_version(command) < TRANSACTION_MODE_SINCE:
            pytest.skip("there is no PgBouncer from 1.21 on here")
    words = [sys.executable, "-m", "tests.harness.run_suite", "-q"]
    done = subprocess.run(
        words, cwd=ROOT, env=os.environ | {VARIABLE: layout}, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout[-8000:] + done.stderr[-2000:]
    print(f"\n{layout}: {done.stdout.strip().splitlines()[-1]}")
