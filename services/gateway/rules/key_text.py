"""The format of a key: `spk_live_<key id>_<secret><checksum>`, and what is stored.

With the checksum a mistyped or made-up key is refused without a lookup, and secret scanners can recognise
keys.
"""

import hashlib
import hmac
import secrets
import uuid
import zlib
from collections.abc import Sequence
from typing import Final

from msgspec import Struct

ALPHABET: Final = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
_VALUES: Final = {letter: value for value, letter in enumerate(ALPHABET)}
ID_LENGTH: Final = 22  # 128 bits in base62
SECRET_LENGTH: Final = 43  # 256 bits
CHECKSUM_LENGTH: Final = 6  # 32 bits
KEY_HEADS: Final = ("spk_live_", "spk_test_")
STAFF_HEAD: Final = "stf_"
LINK_HEAD: Final = "stc_link_"
SESSION_HEAD: Final = "stc_sess_"
OPERATOR_SESSION_HEAD: Final = "stc_oper_"
LENGTH: Final = len(KEY_HEADS[0]) + ID_LENGTH + 1 + SECRET_LENGTH + CHECKSUM_LENGTH


class ParsedKey(Struct, frozen=True):
    id: str
    secret: str


class NewKey(Struct, frozen=True):
    id: str
    prefix: str
    secret: str
    text: str


def make_key(*, test: bool, known_id: str | None = None) -> NewKey:
    return make_token(KEY_HEADS[1] if test else KEY_HEADS[0], known_id)


def make_token(head: str, known_id: str | None = None) -> NewKey:
    key_id = uuid.UUID(known_id) if known_id else uuid.uuid4()
    prefix = head + base62(key_id.int, ID_LENGTH)
    secret = base62(int.from_bytes(secrets.token_bytes(32), "big"), SECRET_LENGTH)
    text = f"{prefix}_{secret}"
    return NewKey(str(key_id), prefix, secret, text + checksum(text))


def parse(text: str, *heads: str) -> ParsedKey | None:
    """None if the text cannot be one of ours with one of these heads. Needs no lookup."""
    head = next((head for head in heads if text.startswith(head)), None)
    if head is None:
        return None
    start, end = len(head), len(head) + ID_LENGTH
    if len(text) != end + 1 + SECRET_LENGTH + CHECKSUM_LENGTH or not text.isascii():
        return None
    body = text[:-CHECKSUM_LENGTH]
    if checksum(body) != text[-CHECKSUM_LENGTH:] or body[end] != "_":
        return None
    try:
        number = from_base62(body[start:end])
    except KeyError:
        return None
    if number >= 1 << 128:
        return None
    return ParsedKey(str(uuid.UUID(int=number)), body[end + 1 :])


def checksum(text: str) -> str:
    return base62(zlib.crc32(text.encode()), CHECKSUM_LENGTH)


def hash_secret(pepper: str, secret: str) -> bytes:
    """The secret is 256 random bits, so one HMAC with a pepper is enough; no slow hash is needed."""
    return hmac.digest(pepper.encode(), secret.encode(), hashlib.sha256)


def is_hash_of(stored: bytes, secret: str, peppers: Sequence[str]) -> bool:
    """Under any of the peppers: a secret outlives the pepper that it was first hashed with."""
    return any(hmac.compare_digest(hash_secret(pepper, secret), stored) for pepper in peppers)


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
