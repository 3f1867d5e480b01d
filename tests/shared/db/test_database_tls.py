"""With libpq's settings for TLS a service talks to a database that proves its name, and to no other."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import asyncpg
import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID


@pytest.fixture
def authority(tmp_path: Path) -> Path:
    key, name = ec.generate_private_key(ec.SECP256R1()), x509.NameAttribute(NameOID.COMMON_NAME, "nobody")
    now = datetime.now(UTC)
    certificate = (
        x509.CertificateBuilder(x509.Name([name]), x509.Name([name]), key.public_key())
        .serial_number(1)
        .not_valid_before(now)
        .not_valid_after(now + timedelta(days=1))
        .sign(key, hashes.SHA256())
    )
    path = tmp_path / "ca.crt"
    path.write_bytes(certificate.public_bytes(serialization.Encoding.PEM))
    return path


async def test_a_database_without_a_certificate_is_refused_where_one_is_required(
    database_url: str, authority: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The chart's settings reach the driver through the environment, not the URL."""
    monkeypatch.setenv("PGSSLMODE", "verify-full")
    monkeypatch.setenv("PGSSLROOTCERT", str(authority))
    with pytest.raises(ConnectionError, match="SSL"):
        await asyncpg.connect(database_url)
    monkeypatch.setenv("PGSSLMODE", "prefer")
    await (await asyncpg.connect(database_url)).close()
