"""This service's domain errors."""

from collections.abc import Sequence
from datetime import UTC, datetime

from shared.errors import Conflict


class SlugTaken(Conflict):
    code = "slug_taken"
    message = "Another form of the studio has this slug."

    def __init__(self, slug: str) -> None:
        super().__init__(param="slug", details={"slug": slug})


class InvalidStateTransition(Conflict):
    code = "invalid_state_transition"

    def __init__(self, now: str, wanted: str, allowed: Sequence[str]) -> None:
        super().__init__(
            f"{now} cannot become {wanted}.",
            param="status",
            details={"from": str(now), "to": str(wanted), "allowed": [str(state) for state in allowed]},
        )


class FormNotPublished(Conflict):
    code = "form_not_published"
    message = "The form is not published and accepts no submissions."

    def __init__(self, status: str) -> None:
        super().__init__(param="form_id", details={"status": str(status)})


class FormClosed(Conflict):
    code = "form_closed"
    message = "The form has closed."

    def __init__(self, closes_at: datetime) -> None:
        super().__init__(param="form_id", details={"closes_at": closes_at.astimezone(UTC)})


class SubmissionLimitReached(Conflict):
    code = "submission_limit_reached"
    message = "The form has reached its submission limit."

    def __init__(self, limit: int) -> None:
        super().__init__(param="form_id", details={"max_submissions": limit})


class AlreadySubmitted(Conflict):
    code = "already_submitted"
    message = "This email has already submitted the form."

    def __init__(self, submission_id: str) -> None:
        super().__init__(param="submitter_email", details={"submission_id": submission_id})


class LeadExists(Conflict):
    code = "lead_exists"
    message = "Another lead of the studio has this email."

    def __init__(self, lead_id: str | None) -> None:
        super().__init__(param="email", details={"lead_id": lead_id})
