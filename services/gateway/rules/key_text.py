"""The text of a key: `spk_live_<key id>_<secret><checksum>`, and what is stored of it.

The checksum lets a mistyped or made-up key be refused without a look-up, and secret scanners be sure.
"""

import hashlib
import hmac
import secrets
import uuid
import zlib
from typing import Final

from msgspec import Struct

ALPHABET: Final = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
_VALUES: Final = {letter: value for value, letter in enumerate(ALPHABET)}
ID_LENGTH: Final = 22  # 128 bits in base62
SECRET_LENGTH: Final = 43  # 256 bits
CHECKSUM_LENGTH: Final = 6  # 32 bits
_HEAD: Final = len("spk_live_")
LENGTH: Final = _HEAD + ID_LENGTH + 1 + SECRET_LENGTH + CHECKSUM_LENGTH


class ParsedKey(Struct, frozen=True):
    id: str
    secret: str


class NewKey(Struct, frozen=True):
    id: str
    prefix: str
    secret: str
    text: str


def make_key(*, test: bool) -> NewKey:
    key_id = uuid.uuid4()
    prefix = f"spk_{'test' if test else 'live'}_{base62(key_id.int, ID_LENGTH)}"
    secret = base62(int.from_bytes(secrets.token_bytes(32), "big"), SECRET_LENGTH)
    text = f"{prefix}_{secret}"
    return NewKey(str(key_id), prefix, secret, text + checksum(text))


def parse_key(text: str) -> ParsedKey | None:
    """None if the text cannot be one of our keys, which needs no lookup."""
    if len(text) != LENGTH or not text.startswith(("spk_live_", "spk_test_")) or not text.isascii():
        return None
    body = text[:-CHECKSUM_LENGTH]
    if checksum(body) != text[-CHECKSUM_LENGTH:] or body[_HEAD + ID_LENGTH] != "_":
        return None
    try:
        number = from_base62(body[_HEAD : _HEAD + ID_LENGTH])
    except KeyError:
        return None
    if number >= 1 << 128:
        return None
    return ParsedKey(str(uuid.UUID(int=number)), body[_HEAD + ID_LENGTH + 1 :])


def checksum(text: str) -> str:
    return base62(zlib.crc32(text.encode()), CHECKSUM_LENGTH)


def hash_secret(pepper: str, secret: str) -> bytes:
    """The secret is 256 random bits, so one HMAC with a pepper is enough; no slow hash is needed."""
    return hmac.digest(pepper.encode(), secret.encode(), hashlib.sha256)


def base62(number: int, length: int) -> str:
    letters = []
    for _ in range(length):
        number, value = divmod(number, 62)
        letters.append(ALPHABET[value])
    return "".join(reversed(letters))


def from_base62(text: str) -> int:
    number = 0
    for letter in text:
        number = number * 62 + _VALUES[letter]
    return number
