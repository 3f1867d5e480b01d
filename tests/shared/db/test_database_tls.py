"""With libpq's settings for TLS a service talks to a database that proves its name, and to no other."""

import subprocess
from pathlib import Path

import asyncpg
import pytest

AUTHORITY = "openssl req -x509 -newkey rsa:2048 -nodes -days 1 -subj /CN=nobody -keyout ca.key -out ca.crt"


async def test_a_database_without_a_certificate_is_refused_where_one_is_required(
    database_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The chart's settings reach the driver through the environment, not the URL."""
    subprocess.run(AUTHORITY.split(), cwd=tmp_path, check=True, capture_output=True)
    monkeypatch.setenv("PGSSLMODE", "verify-full")
    monkeypatch.setenv("PGSSLROOTCERT", str(tmp_path / "ca.crt"))
    with pytest.raises(ConnectionError, match="SSL"):
        await asyncpg.connect(database_url)
    monkeypatch.setenv("PGSSLMODE", "prefer")
    await (await asyncpg.connect(database_url)).close()
