"""This service's domain errors."""

from shared.errors import Conflict, Gone


class EndpointDisabled(Conflict):
    """Nothing is sent to a disabled endpoint, not even a manual retry."""

    code = "endpoint_disabled"
    message = "The endpoint is disabled. Enable it first."


class TooManyEndpoints(Conflict):
    code = "too_many_endpoints"
    message = "This client has reached its limit of webhook endpoints."


class RecoveryRunning(Conflict):
    code = "recovery_in_progress"
    message = "A recovery of this endpoint is still running."


class EventsExpired(Gone):
    code = "events_expired"
    message = "Events after this sequence are not kept any more. Start again with a full listing."

    def __init__(self, oldest_sequence: int) -> None:
        super().__init__(details={"oldest_sequence": oldest_sequence})
