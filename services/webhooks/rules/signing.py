"""Signing secrets, encrypted at rest, and Standard Webhooks signatures."""

import base64
import hashlib
import hmac
import secrets
from collections.abc import Sequence
from contextlib import suppress

from nacl.exceptions import CryptoError
from nacl.secret import SecretBox

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


CACHE_SIZE = 10_000


class SecretCipher:
    """Encrypts with the first key and decrypts with any of them, so that keys can be rotated."""

    def __init__(self, keys: Sequence[str]) -> None:
        # The settings are random already, so a plain hash is enough.
        self._boxes = [SecretBox(hashlib.sha256(key.encode()).digest()) for key in keys]
        self._signing_keys: dict[bytes, bytes] = {}

    def encrypt(self, secret: str) -> bytes:
        return bytes(self._boxes[0].encrypt(secret.encode()))

    def signing_key(self, sealed: bytes) -> bytes:
        """Cached, because a lane needs the same few keys before every batch."""
        known = self._signing_keys.get(sealed)
        if known is None:
            if len(self._signing_keys) >= CACHE_SIZE:
                self._signing_keys.clear()
            known = self._signing_keys[sealed] = signing_key(self._decrypt(sealed).decode())
        return known

    def _decrypt(self, sealed: bytes) -> bytes:
        *older, oldest = self._boxes
        for box in older:
            with suppress(CryptoError):
                return box.decrypt(sealed)
        return oldest.decrypt(sealed)
