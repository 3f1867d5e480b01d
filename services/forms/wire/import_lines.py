"""The import lines of this service: the resource plus the columns that the API does not show."""

from typing import Annotated, Any, TypeAlias

from msgspec import UNSET, Meta, Struct, UnsetType

from services.forms.wire.forms import Description, FormField, FormSettings, FormStatus, Title
from services.forms.wire.leads import LeadStatus, LifecycleStage, Name, Notes, Source
from services.forms.wire.submissions import ConsentGiven, SubmissionStatus
from shared.phones import Phone
from shared.wire import Email, Id, Instant

Version = Annotated[int, Meta(ge=1, le=2_000_000_000)]


class Imported(Struct, kw_only=True, forbid_unknown_fields=True, tag_field="object"):
    """Unknown fields are rejected, to report misspelt ones. `created_at` sets the row's place in lists."""

    id: Id
    studio_id: Id | None = None
    created_at: Instant | None = None


class ImportedStudio(Struct, kw_only=True, tag_field="object", tag="studio"):
    """The catalog checks the whole line; only the time zone is used here."""

    id: Id
    timezone: str | None = None


class ImportedForm(Imported, kw_only=True, tag="form"):
    title: Title
    # Whatever slug the studio has lived with until now.
    slug: Title | UnsetType = UNSET
    description: Description | None = None
    fields: list[FormField] = []
    settings: FormSettings = FormSettings()
    status: FormStatus = FormStatus.DRAFT
    version: Version | None = None
    updated_at: Instant | None = None


class ImportedSubmission(Imported, kw_only=True, tag="form_submission"):
    """Answers of the past are taken as they are: the form may have changed since."""

    form_id: Id
    submitter_email: Email
    submitter_name: str | None = None
    data: dict[str, Any] = {}
    status: SubmissionStatus = SubmissionStatus.PENDING
    form_version: Version = 1
    consents: list[ConsentGiven] = []
    version: Version | None = None
    lead_id: Id | None = None


class ImportedLead(Imported, kw_only=True, tag="lead"):
    email: Email
    first_name: Name = ""
    last_name: Name | None = None
    phone: Phone | None = None
    source: Source | None = None
    status: LeadStatus = LeadStatus.NEW
    lifecycle_stage: LifecycleStage | None = LifecycleStage.LEAD
    notes: Notes | None = None
    metadata: dict[str, Any] = {}
    version: Version | None = None
    updated_at: Instant | None = None


AnyImported: TypeAlias = ImportedStudio | ImportedForm | ImportedSubmission | ImportedLead
