"""Signing secrets are encrypted in the database, and the keys they are encrypted with can be rotated."""

import pytest
from nacl.exceptions import CryptoError

from services.webhooks.rules.signing import SecretCipher, new_secret, signing_key


def test_the_first_key_seals_and_every_key_opens() -> None:
    """As long as the older key is listed, what it sealed is still read."""
    secret = new_secret()
    sealed = SecretCipher(("newer", "older")).encrypt(secret)
    assert SecretCipher(("newest", "newer")).signing_key(sealed) == signing_key(secret)
    with pytest.raises(CryptoError):
        SecretCipher(("older",)).signing_key(sealed)


def test_what_is_stored_tells_not_that_two_are_equal_and_cannot_be_changed() -> None:
    cipher, secret = SecretCipher(("key",)), new_secret()
    sealed = cipher.encrypt(secret)
    assert sealed != cipher.encrypt(secret)
    with pytest.raises(CryptoError):
        cipher.signing_key(bytes([*sealed[:-1], sealed[-1] ^ 1]))
