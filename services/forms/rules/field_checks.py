"""The check of each field type: free text, numbers, dates, emails, phones, choices and uploads.

All answers are sent as strings. Nothing is looked up on the network.
"""

import base64
import binascii
import mimetypes
import re
from collections.abc import Callable, Mapping
from decimal import Decimal
from functools import lru_cache
from typing import Any, NamedTuple, TypeAlias
from urllib.parse import unquote, unquote_to_bytes

from services.forms.rules.answer_values import Answer, as_date, as_decimal, number_key
from services.forms.wire.forms import FieldType, FormField
from shared.emails import normalize_email
from shared.phones import PHONE_PROBLEM, PHONE_PROBLEM_TYPE, is_phone


class Finding(NamedTuple):
    msg: str
    type: str


class FieldContext(NamedTuple):
    """One visible field, and the country for phone numbers without a country code."""

    field: FormField
    region: str | None


Check: TypeAlias = Callable[[FieldContext, Answer], Finding | None]

ONE_TEXT = Finding("This field takes one string, not a list.", "string_type")


MAX_TEXT_LENGTH = 5_000
MAX_TEXTAREA_LENGTH = 50_000
MAX_ADDRESS_LENGTH = 2_000
# A drawn signature comes as a data: URI.
MAX_SIGNATURE_LENGTH = 200_000


def _bounded(answer: Answer, longest: int) -> Finding | None:
    if isinstance(answer, list):
        return ONE_TEXT
    if len(answer) > longest:
        return Finding(f"{len(answer)} characters; at most {longest} are allowed.", "string_too_long")
    return None


def one_text(longest: int) -> Check:
    return lambda context, answer: _bounded(answer, longest)


def check_address(context: FieldContext, answer: Answer) -> Finding | None:
    """One string, or one string per address line."""
    return _bounded("\n".join(answer) if isinstance(answer, list) else answer, MAX_ADDRESS_LENGTH)


def check_section_break(context: FieldContext, answer: Answer) -> Finding | None:
    return Finding("A section break takes no answer.", "not_answerable")


DEFAULT_MAX_RATING = 5


def check_number(context: FieldContext, answer: Answer) -> Finding | None:
    if isinstance(answer, list):
        return ONE_TEXT
    number = as_decimal(answer)
    if number is None:
        return Finding("A number is written like 12, -3 or 4.50.", "number_parsing")
    # Via str: 0.1 means one tenth here, not the nearest binary fraction.
    if context.field.min is not None and number < Decimal(str(context.field.min)):
        return Finding(f"At least {context.field.min}.", "too_small")
    if context.field.max is not None and number > Decimal(str(context.field.max)):
        return Finding(f"At most {context.field.max}.", "too_large")
    return None


def check_rating(context: FieldContext, answer: Answer) -> Finding | None:
    if isinstance(answer, list):
        return ONE_TEXT
    highest = context.field.max_rating or DEFAULT_MAX_RATING
    number = as_decimal(answer)
    if number is None or number != number.to_integral_value() or not 1 <= number <= highest:
        return Finding(f"A rating is a whole number from 1 to {highest}.", "rating_out_of_range")
    return None


def check_date(context: FieldContext, answer: Answer) -> Finding | None:
    if isinstance(answer, list):
        return ONE_TEXT
    if as_date(answer) is None:
        return Finding("A date is written like 2026-08-02.", "date_parsing")
    return None


def check_email(context: FieldContext, answer: Answer) -> Finding | None:
    if isinstance(answer, list):
        return ONE_TEXT
    try:
        normalize_email(answer)
    except ValueError as problem:
        return Finding(str(problem), "value_error")
    return None


def check_phone(context: FieldContext, answer: Answer) -> Finding | None:
    if isinstance(answer, list):
        return ONE_TEXT
    return None if is_phone(answer, context.region) else PHONE


PHONE = Finding(PHONE_PROBLEM, PHONE_PROBLEM_TYPE)


_TICKED = ("true", "false")


def option_value(option: Any) -> str | None:
    """The value of a string, number (its key), or object with a `value`; None for anything else."""
    if isinstance(option, dict):
        option = option.get("value")
    if isinstance(option, str):
        return option
    if isinstance(option, bool) or not isinstance(option, (int, float, Decimal)):
        return None
    return number_key(Decimal(str(option)))


def check_select(context: FieldContext, answer: Answer) -> Finding | None:
    if isinstance(answer, list) and not context.field.multiple:
        return ONE_TEXT
    return _offered(context, answer)


def check_checkbox_group(context: FieldContext, answer: Answer) -> Finding | None:
    """A single string counts as one choice. A group without options accepts anything."""
    return _offered(context, answer) if context.field.options else None


def check_checkbox(context: FieldContext, answer: Answer) -> Finding | None:
    if answer not in _TICKED:
        return Finding('A checkbox must be "true" or "false".', "bool_parsing")
    return None


def check_consent(context: FieldContext, answer: Answer) -> Finding | None:
    if answer not in _TICKED:
        return Finding('A consent must be "true" or "false".', "bool_parsing")
    if context.field.required and answer == "false":
        return Finding("This consent must be given.", "consent_required")
    return None


def _offered(context: FieldContext, answer: Answer) -> Finding | None:
    chosen = answer if isinstance(answer, list) else [answer]
    offered = {option_value(option) for option in context.field.options or ()}
    # A number may come as the form has it or as a widget prints it: 1.10 and 1.1 are the same option.
    options = [text if text in offered else number_key(as_decimal(text)) for text in chosen]
    if None in options or not offered.issuperset(options):
        return Finding("Choose one of the form's options.", "not_an_option")
    if len(set(options)) < len(options):
        return Finding("Each option can be chosen only once.", "duplicate_option")
    return None


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


CHECKS: Mapping[FieldType, Check] = {
    FieldType.TEXT: one_text(MAX_TEXT_LENGTH),
    FieldType.TEXTAREA: one_text(MAX_TEXTAREA_LENGTH),
    FieldType.ADDRESS: check_address,
    FieldType.SIGNATURE: one_text(MAX_SIGNATURE_LENGTH),
    FieldType.SECTION_BREAK: check_section_break,
    FieldType.NUMBER: check_number,
    FieldType.RATING: check_rating,
    FieldType.DATE: check_date,
    FieldType.EMAIL: check_email,
    FieldType.PHONE: check_phone,
    FieldType.SELECT: check_select,
    FieldType.CHECKBOX_GROUP: check_checkbox_group,
    FieldType.CHECKBOX: check_checkbox,
    FieldType.CONSENT: check_consent,
    FieldType.FILE_UPLOAD: check_file_upload,
}
