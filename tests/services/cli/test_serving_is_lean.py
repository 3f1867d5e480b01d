"""What a process never uses stays out of its memory."""

import subprocess
import sys

SERVE = """
import sys
import services.cli.main
import services.cli.serve, services.catalog.app
print(*sys.modules, sep="\\n")
"""
COMMAND = """
import sys
from services.cli.main import run_command
run_command(sys.argv[1:])
print(*sys.modules, sep="\\n")
"""


def loaded(code: str, *words: str) -> set[str]:
    environment = {"STUDIO_OPERATOR_TOKEN": "none", "STUDIO_OPERATOR_URL": "http://127.0.0.1:1"}
    done = subprocess.run(
        [sys.executable, "-c", code, *words], capture_output=True, text=True, check=True, env=environment
    )
    return set(done.stdout.split())


def test_serving_one_service_loads_neither_the_others_nor_what_only_a_terminal_shows() -> None:
    """Each `serve` would load it for nothing: other services, `up`, the broker's client.

    structlog 26.1 imports rich if it can, which costs 0.1 s and 3 MB.
    """
    modules = loaded(SERVE)
    assert "services.catalog.app" in modules
    kept_out = {"services.gateway", "services.bookings", "services.all_in_one", "services.cli.up"}
    kept_out |= {"rich.console", "rich.progress", "aiohttp", "aio_pika", "opentelemetry.sdk"}
    kept_out |= {"rich", "pygments", "sqlite3", "email_validator", "phonenumbers", "yaml"}
    assert not kept_out & modules


def test_webhooks_encrypts_without_the_largest_library_for_it() -> None:
    """`cryptography` costs 7 MB more than libsodium does."""
    modules = loaded(SERVE.replace("catalog", "webhooks"))
    assert "nacl.secret" in modules
    assert "cryptography" not in modules


def test_a_command_of_the_operators_api_loads_no_web_framework() -> None:
    """`studioctl keys list` is one HTTP request: it starts no server and needs no database driver."""
    modules = loaded(COMMAND, "keys", "list")
    assert "services.cli.operator_client" in modules
    assert not {"granian", "asyncpg", "aiohttp", "services.gateway", "rich.console"} & modules


def test_help_and_completion_load_nothing_but_the_table_of_commands() -> None:
    """A shell starts `studioctl` for each Tab, so it must not load what only a running command needs."""
    modules = loaded(COMMAND, "--help")
    assert "services.cli.desk_requests" in modules
    assert not {"shared", "msgspec", "structlog", "rich", "asyncio", "http.client", "ssl"} & modules
