"""Signing secrets are encrypted in the database, and the keys they are encrypted with can be rotated."""

import pytest
from nacl.exceptions import CryptoError

from services.webhooks.rules.signing import SecretCipher, new_secret, signing_key


def test_a_secret_sealed_with_an_older_key_is_still_read() -> None:
    secret = new_secret()
    sealed = SecretCipher(("older",)).encrypt(secret)
    assert SecretCipher(("newer", "older")).signing_key(sealed) == signing_key(secret)


def test_the_first_key_seals() -> None:
    secret = new_secret()
    sealed = SecretCipher(("newer", "older")).encrypt(secret)
    assert SecretCipher(("newer",)).signing_key(sealed) == signing_key(secret)
    with pytest.raises(CryptoError):
        SecretCipher(("older",)).signing_key(sealed)


def test_what_is_stored_tells_neither_the_secret_nor_that_two_are_equal() -> None:
    cipher, secret = SecretCipher(("key",)), new_secret()
    sealed, again = cipher.encrypt(secret), cipher.encrypt(secret)
    assert secret.encode() not in sealed
    assert sealed != again
    with pytest.raises(CryptoError):
        cipher.signing_key(bytes([*sealed[:-1], sealed[-1] ^ 1]))
