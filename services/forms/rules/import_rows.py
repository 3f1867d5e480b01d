"""Turns an import line into the row to store, or into the reason why it cannot be stored."""

from typing import Any

import msgspec
from msgspec import UNSET

from services.forms.rules.answers import malformed_answers
from services.forms.rules.form_definition import fields_to_store, form_problems, settings_to_store, slug_of
from services.forms.rules.lead_metadata import metadata_problems, metadata_text
from services.forms.wire.forms import raw_form_json
from services.forms.wire.import_lines import (
    AnyImported,
    ImportedForm,
    ImportedLead,
    ImportedStudio,
    ImportedSubmission,
)
from services.forms.wire.json_text import read_json, write_json
from services.forms.wire.leads import metadata_sent
from shared.emails import normalize_email
from shared.errors import Invalid


def row_to_store(value: AnyImported, written: bytes) -> dict[str, Any]:
    """The row's columns. Raises `Invalid` or ValueError with a readable reason."""
    if isinstance(value, ImportedStudio):
        return {"id": value.id, "timezone": value.timezone}
    if isinstance(value, ImportedForm):
        return _form(value, written)
    if isinstance(value, ImportedLead):
        return _lead(value, written)
    return _submission(value)


def _form(value: ImportedForm, written: bytes) -> dict[str, Any]:
    if problems := form_problems(value.fields, value.settings, written):
        raise Invalid(problems)
    raw = raw_form_json(written)
    return {
        "id": value.id,
        "title": value.title,
        "slug": value.slug if value.slug is not UNSET else slug_of(value.title, value.id),
        "description": value.description,
        "fields": fields_to_store(raw),
        "settings": settings_to_store(raw),
        "status": value.status,
        "version": value.version,
        "created_at": value.created_at,
        "updated_at": value.updated_at,
    }


def _lead(value: ImportedLead, written: bytes) -> dict[str, Any]:
    sent = metadata_sent(written)
    metadata = read_json(sent) if isinstance(sent, msgspec.Raw) else {}
    if problems := metadata_problems(metadata):
        raise Invalid(problems)
    return {
        "id": value.id,
        "email": normalize_email(value.email),
        "first_name": value.first_name,
        "last_name": value.last_name,
        "phone": value.phone,
        "source": value.source,
        "status": value.status,
        "lifecycle_stage": value.lifecycle_stage,
        "notes": value.notes,
        "metadata": metadata_text(metadata),
        "version": value.version,
        "created_at": value.created_at,
        "updated_at": value.updated_at,
    }


def _submission(value: ImportedSubmission) -> dict[str, Any]:
    if problems := malformed_answers(value.data):
        raise Invalid(problems)
    return {
        "id": value.id,
        "form_id": value.form_id,
        "submitter_email": normalize_email(value.submitter_email),
        "submitter_name": value.submitter_name,
        "data": write_json(value.data),
        "status": value.status,
        "form_version": value.form_version,
        "consents": write_json(value.consents),
        "version": value.version,
        "lead_id": value.lead_id,
        "created_at": value.created_at,
    }
