"""The check of each field type, in one table."""

from collections.abc import Mapping

from services.forms.rules.field_checks import choices, contacts, files, numbers, texts
from services.forms.rules.field_checks.answer_problem import Check
from services.forms.wire.fields import FieldType

CHECKS: Mapping[FieldType, Check] = {
    FieldType.TEXT: texts.check_text,
    FieldType.TEXTAREA: texts.check_textarea,
    FieldType.ADDRESS: texts.check_address,
    FieldType.SIGNATURE: texts.check_signature,
    FieldType.SECTION_BREAK: texts.check_section_break,
    FieldType.NUMBER: numbers.check_number,
    FieldType.RATING: numbers.check_rating,
    FieldType.DATE: numbers.check_date,
    FieldType.EMAIL: contacts.check_email,
    FieldType.PHONE: contacts.check_phone,
    FieldType.SELECT: choices.check_select,
    FieldType.CHECKBOX_GROUP: choices.check_checkbox_group,
    FieldType.CHECKBOX: choices.check_checkbox,
    FieldType.CONSENT: choices.check_consent,
    FieldType.FILE_UPLOAD: files.check_file_upload,
}
