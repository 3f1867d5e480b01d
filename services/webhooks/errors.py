"""This service's domain errors."""

from shared.errors import Conflict


class EndpointDisabled(Conflict):
    """Nothing is sent to a disabled endpoint, not even on request."""

    code = "endpoint_disabled"
    message = "The endpoint is disabled; enable it first."


class TooManyEndpoints(Conflict):
    code = "too_many_endpoints"
    message = "This client has as many webhook endpoints as it may have."


class RecoveryRunning(Conflict):
    code = "recovery_in_progress"
    message = "A recovery of this endpoint is still under way."
