"""Encrypts signing secrets at rest: with the first key. Decrypts with any of them, so keys can be rotated."""

import base64
import hashlib
from collections.abc import Sequence

from cryptography.fernet import Fernet, MultiFernet

from services.webhooks.rules.signing import signing_key

CACHE_SIZE = 10_000


class SecretCipher:
    def __init__(self, keys: Sequence[str]) -> None:
        self._fernet = MultiFernet([Fernet(_fernet_key(key)) for key in keys])
        self._signing_keys: dict[bytes, bytes] = {}

    def encrypt(self, secret: str) -> bytes:
        return self._fernet.encrypt(secret.encode())

    def signing_key(self, sealed: bytes) -> bytes:
        """Cached, because a lane needs the same few keys before every batch."""
        known = self._signing_keys.get(sealed)
        if known is None:
            if len(self._signing_keys) >= CACHE_SIZE:
                self._signing_keys.clear()
            known = self._signing_keys[sealed] = signing_key(self._fernet.decrypt(sealed).decode())
        return known


def _fernet_key(text: str) -> bytes:
    """Fernet needs 32 bytes. The setting is random already, so a plain hash is enough."""
    return base64.urlsafe_b64encode(hashlib.sha256(text.encode()).digest())
