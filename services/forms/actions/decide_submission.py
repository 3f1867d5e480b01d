"""Staff review a submission or reject it."""

from services.forms.actions.event_builders import SubmissionReference, submission_updated
from services.forms.context import Forms
from services.forms.rules.transitions import SUBMISSION_STATES, require_transition
from services.forms.store import submissions
from services.forms.wire.submissions import FormSubmission, SubmissionStatus
from shared.events.outbox import add_event
from shared.http.caller import Caller


async def decide_submission(
    service: Forms, caller: Caller, form_id: str, submission_id: str, status: SubmissionStatus
) -> FormSubmission:
    async with service.db.transaction() as conn:
        submission = await submissions.get_locked(conn, caller, form_id, submission_id)
        require_transition(SUBMISSION_STATES, submission.status, status)
        if submission.status is not status:
            version = await submissions.set_status(conn, caller, submission_id, status)
            submission.status = status
            changed = SubmissionReference(submission.id, form_id, version)
            await add_event(conn, submission_updated(caller, changed))
    service.wakeup.notify()
    return submission
