"""Uploads as `data:` URIs: their size and media type."""

import base64
import binascii
import mimetypes
import re
from collections.abc import Mapping
from functools import lru_cache
from typing import NamedTuple
from urllib.parse import unquote, unquote_to_bytes

from services.forms.rules.answer_values import Answer
from services.forms.rules.field_checks.answer_problem import ONE_TEXT, FieldContext, Finding
from services.forms.wire.fields import FormField

# Python's built-in table: the host's own would make a form behave differently from host to host.
_KINDS = mimetypes.MimeTypes()


UNSPECIFIC = "application/octet-stream"
# Media types as in RFC 6838.
_KIND = re.compile(r"[a-z0-9][a-z0-9!#$&^_.+-]*/[a-z0-9][a-z0-9!#$&^_.+-]*")


class Upload(NamedTuple):
    """`declared`: the sender named a specific media type."""

    kind: str
    declared: bool
    name: str
    size: int


class Accepted(NamedTuple):
    """`accept` of a file field, read once: checking an upload costs a few look-ups, whatever its length."""

    everything: bool
    kinds: frozenset[str]
    groups: frozenset[str]
    endings: Mapping[str, str | None]
    ending_lengths: tuple[int, ...]

    def allows(self, upload: Upload) -> bool:
        if self.everything or upload.kind in self.kinds or upload.kind.partition("/")[0] in self.groups:
            return True
        for length in self.ending_lengths:
            if length > len(upload.name):
                return False
            ending = upload.name[-length:]
            # The name decides where the declared kind does not contradict it.
            if ending in self.endings and not (upload.declared and self.endings[ending]):
                return True
        return False


@lru_cache(maxsize=256)
def read_accept(accept: str) -> Accepted:
    """`accept` as in HTML: media types, `image/*`, or endings like `.pdf`, separated by commas."""
    wanted = {part.strip().lower() for part in accept.split(",")} - {""}
    endings = {part: _KINDS.guess_type(f"file{part}")[0] for part in wanted if part.startswith(".")}
    return Accepted(
        everything=not wanted or not wanted.isdisjoint(("*", "*/*")),
        kinds=frozenset(wanted | {kind for kind in endings.values() if kind}),
        groups=frozenset(part[:-2] for part in wanted if part.endswith("/*")),
        endings=endings,
        ending_lengths=tuple(sorted({len(ending) for ending in endings})),
    )


def check_file_upload(context: FieldContext, answer: Answer) -> Finding | None:
    if isinstance(answer, list) and not context.field.multiple:
        return ONE_TEXT
    uploads = [read_data_uri(uri) for uri in (answer if isinstance(answer, list) else [answer])]
    accepted = read_accept(context.field.accept or "")
    for upload in uploads:
        finding = _check_one(context.field, accepted, upload)
        if finding is not None:
            return finding
    if context.field.required and not any(upload.size for upload in uploads if upload):
        return Finding("This field is required, and the file is empty.", "missing")
    return None


def _check_one(field: FormField, accepted: Accepted, upload: Upload | None) -> Finding | None:
    if upload is None:
        return Finding("Send the file as a data: URI, like data:image/png;base64,….", "data_uri_parsing")
    if field.max_file_size is not None and upload.size > field.max_file_size:
        return Finding(f"{upload.size} bytes; at most {field.max_file_size} are allowed.", "file_too_large")
    if not accepted.allows(upload):
        return Finding(f"{upload.kind} is not one of {field.accept}.", "file_kind")
    return None


def read_data_uri(uri: str) -> Upload | None:
    """RFC 2397; a `name` parameter, which widgets often add, is read too."""
    head, comma, payload = uri.partition(",")
    if not comma or head[:5].lower() != "data:":
        return None
    kind, *parameters = head[5:].split(";")
    encoded = bool(parameters) and parameters[-1].strip().lower() == "base64"
    named = dict(part.strip().partition("=")[::2] for part in parameters)
    kind = kind.strip().lower()
    if kind and not _KIND.fullmatch(kind):
        return None
    try:
        content = unquote_to_bytes(payload)
        size = len(base64.b64decode(content, validate=True)) if encoded else len(content)
    except (binascii.Error, ValueError):
        return None
    return Upload(
        kind or "text/plain", bool(kind) and kind != UNSPECIFIC, unquote(named.get("name", "")).lower(), size
    )
