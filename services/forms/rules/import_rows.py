"""Turns an import line into the row to store, or into the reason why it cannot be stored."""

from typing import Any

from msgspec import UNSET, structs

from services.forms.rules.answers import malformed_answers
from services.forms.rules.form_definition import fields_to_store, form_problems, settings_to_store, slug_of
from services.forms.rules.lead_metadata import metadata_problems, metadata_text, sent_metadata
from services.forms.wire.forms import raw_form_json
from services.forms.wire.import_lines import (
    AnyImported,
    ImportedForm,
    ImportedLead,
    ImportedStudio,
    ImportedSubmission,
)
from services.forms.wire.json_text import write_json
from services.forms.wire.leads import metadata_sent
from shared.emails import normalize_email
from shared.errors import Invalid


def row_to_store(value: AnyImported, written: bytes) -> dict[str, Any]:
    """The row's columns. Raises `Invalid` or ValueError with a readable reason."""
    if isinstance(value, ImportedStudio):
        return structs.asdict(value)
    if isinstance(value, ImportedForm):
        return _form(value, written)
    if isinstance(value, ImportedLead):
        return _lead(value, written)
    return _submission(value)


def _form(value: ImportedForm, written: bytes) -> dict[str, Any]:
    if problems := form_problems(value.fields, value.settings, written):
        raise Invalid(problems)
    raw = raw_form_json(written)
    return structs.asdict(value) | {
        "slug": value.slug if value.slug is not UNSET else slug_of(value.title, value.id),
        "fields": fields_to_store(raw),
        "settings": settings_to_store(raw),
    }


def _lead(value: ImportedLead, written: bytes) -> dict[str, Any]:
    metadata = sent_metadata(metadata_sent(written))
    if problems := metadata_problems(metadata):
        raise Invalid(problems)
    return structs.asdict(value) | {
        "email": normalize_email(value.email),
        "metadata": metadata_text(metadata),
    }


def _submission(value: ImportedSubmission) -> dict[str, Any]:
    if problems := malformed_answers(value.data):
        raise Invalid(problems)
    return structs.asdict(value) | {
        "submitter_email": normalize_email(value.submitter_email),
        "data": write_json(value.data),
        "consents": write_json(value.consents),
    }
