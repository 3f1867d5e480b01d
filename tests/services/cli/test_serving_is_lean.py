"""What a server never uses stays out of its memory."""

import subprocess
import sys

LOADED = """
import sys
from services.cli.main import leave_out_rich
leave_out_rich()
import services.cli.serve, services.catalog.app
print(*sys.modules, sep="\\n")
"""


def test_serving_one_service_loads_neither_the_others_nor_what_only_a_terminal_shows() -> None:
    """Each `serve` would carry it for nothing: other services, `up`, rich, the broker's client."""
    done = subprocess.run([sys.executable, "-c", LOADED], capture_output=True, text=True, check=True)
    loaded = set(done.stdout.split())
    assert "services.catalog.app" in loaded
    kept_out = {"services.gateway", "services.bookings", "services.all_in_one", "services.cli.up"}
    kept_out |= {"rich.console", "rich.progress", "aiohttp", "aio_pika", "opentelemetry.sdk"}
    assert not kept_out & loaded
