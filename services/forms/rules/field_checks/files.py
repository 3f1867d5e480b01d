"""Uploads as `data:` URIs: how large the file is, and of which kind it says to be."""

import base64
import binascii
import mimetypes
import re
from typing import NamedTuple
from urllib.parse import unquote, unquote_to_bytes

from services.forms.rules.answer_values import Answer
from services.forms.rules.field_checks.finding import ONE_TEXT, FieldContext, Finding
from services.forms.wire.fields import FormField

# Our own table: the machine's would make the same form behave differently from one host to the next.
_KINDS = mimetypes.MimeTypes()


UNSPECIFIC = "application/octet-stream"
# RFC 6838's names, both halves of them.
_KIND = re.compile(r"[a-z0-9][a-z0-9!#$&^_.+-]*/[a-z0-9][a-z0-9!#$&^_.+-]*")


class Upload(NamedTuple):
    """`declared`: the kind is the sender's own word, not our guess or a word for anything."""

    kind: str
    declared: bool
    name: str
    size: int


def check_file_upload(context: FieldContext, answer: Answer) -> Finding | None:
    if isinstance(answer, list) and not context.field.multiple:
        return ONE_TEXT
    uploads = [read_data_uri(uri) for uri in (answer if isinstance(answer, list) else [answer])]
    for upload in uploads:
        finding = _check_one(context.field, upload)
        if finding is not None:
            return finding
    if context.field.required and not any(upload.size for upload in uploads if upload):
        return Finding("This field is required, and the file is empty.", "missing")
    return None


def _check_one(field: FormField, upload: Upload | None) -> Finding | None:
    if upload is None:
        return Finding("A file is sent as a data: URI, like data:image/png;base64,….", "data_uri_parsing")
    if field.max_file_size is not None and upload.size > field.max_file_size:
        return Finding(f"{upload.size} bytes; at most {field.max_file_size} are taken.", "file_too_large")
    if field.accept and not _is_accepted(upload, field.accept):
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


def _is_accepted(upload: Upload, accept: str) -> bool:
    """`accept` as in HTML: media types, `image/*`, or endings like `.pdf`, separated by commas."""
    wanted = [part.strip().lower() for part in accept.split(",") if part.strip()]
    return not wanted or any(_fits(upload, part) for part in wanted)


def _fits(upload: Upload, wanted: str) -> bool:
    if wanted in ("*", "*/*") or wanted == upload.kind:
        return True
    if wanted.endswith("/*"):
        return upload.kind.startswith(wanted[:-1])
    if wanted.startswith("."):
        kind = _KINDS.guess_type(f"file{wanted}")[0]
        # The name speaks where the declared kind says nothing against it.
        return kind == upload.kind or (upload.name.endswith(wanted) and not (upload.declared and kind))
    return False
