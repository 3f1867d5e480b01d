"""What every process loads at its start."""

import subprocess
import sys

PROGRAM = """
import sys
import services.cli.main
import services.gateway.app, services.catalog.app, services.bookings.app, services.forms.app
import services.webhooks.app
print(*sorted({name.partition(".")[0] for name in sys.modules}))
"""


def test_no_process_loads_the_terminal_libraries_that_structlog_would_like() -> None:
    """structlog 26.1 imports rich and pygments if it can. They would cost each process 0.1 s and 3 MB."""
    loaded = subprocess.run(
        [sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=True, timeout=60
    ).stdout.split()
    assert "structlog" in loaded
    assert not {"rich", "pygments"} & set(loaded)
