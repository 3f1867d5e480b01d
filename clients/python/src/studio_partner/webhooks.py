"""Checks that a webhook comes from the studio, and reads it. The signatures are those of Standard Webhooks."""

import base64
import binascii
import hashlib
import hmac
import time
from collections.abc import Iterable, Sequence
from typing import Final, Protocol

from ._errors import WebhookVerificationError
from .events import Event, read_event

__all__ = ["verify"]

PREFIX: Final = "whsec_"


class Headers(Protocol):
    """A mapping of names to values, or whatever a web framework has in its place."""

    def items(self) -> Iterable[tuple[str, str]]: ...


def verify(
    body: bytes | bytearray | str, headers: Headers, secrets: str | Sequence[str], tolerance: float = 300
) -> Event:
    """The event that was sent, or WebhookVerificationError.

    `body` is what arrived, byte for byte: not parsed and written again. Give every secret that is valid while
    one is rotated. `tolerance` is how many seconds the sender's clock may differ.
    """
    known = [secrets] if isinstance(secrets, str) else secrets
    if not known:
        raise ValueError("verify needs at least one secret.")
    found = {name.lower(): value for name, value in headers.items()}
    try:
        event_id, stamp, signatures = (found[f"webhook-{name}"] for name in ("id", "timestamp", "signature"))
        content = body.encode(errors="surrogateescape") if isinstance(body, str) else bytes(body)
        signed = f"{event_id}.{int(stamp)}.".encode() + content
        given = [text.encode() for text in signatures.split()]
        age = abs(time.time() - int(stamp))
    except (KeyError, ValueError, OverflowError) as problem:
        raise WebhookVerificationError("A signature header is missing or malformed.") from problem
    if age > tolerance:
        raise WebhookVerificationError("The webhook is too old, or from the future.")
    expected = [_signature(secret, signed) for secret in known]
    if not any(hmac.compare_digest(one, other) for one in expected for other in given):
        raise WebhookVerificationError("No signature was made with one of these secrets.")
    try:
        return read_event(content)
    except ValueError as problem:
        raise WebhookVerificationError("The body is not an event.") from problem


def _signature(secret: str, signed: bytes) -> bytes:
    try:
        key = base64.b64decode(secret.removeprefix(PREFIX), validate=True)
    except binascii.Error:
        key = b""
    # An empty key signs as well as any other: with a secret that was not set, everybody could.
    if not key:
        raise ValueError("A webhook secret is whsec_ and base64.")
    return b"v1," + base64.b64encode(hmac.digest(key, signed, hashlib.sha256))
