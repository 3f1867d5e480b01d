"""Standard Webhooks signatures: `v1,<base64 HMAC-SHA-256 of id.timestamp.body>`, one per live secret."""

import base64
import hashlib
import hmac
import secrets
from collections.abc import Sequence

PREFIX = "whsec_"


def new_secret() -> str:
    return PREFIX + base64.b64encode(secrets.token_bytes(32)).decode()


def signing_key(secret: str) -> bytes:
    return base64.b64decode(secret.removeprefix(PREFIX))


def signature(keys: Sequence[bytes], event_id: str, timestamp: int, body: bytes) -> str:
    """During a rotation both secrets sign, so that the receiver can switch at any time."""
    signed = f"{event_id}.{timestamp}.".encode() + body
    parts = (base64.b64encode(hmac.digest(key, signed, hashlib.sha256)).decode() for key in keys)
    return " ".join(f"v1,{part}" for part in parts)
