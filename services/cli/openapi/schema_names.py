"""Public schema names, where the struct's own name would be ambiguous outside its service."""

from typing import Final

RENAMED: Final = {
    "OwnKey": "Key",
    "RateLimit": "KeyRateLimit",
    "LoggedRequest": "Request",
    "BookingCreate": "PartnerBookingCreate",
    "Cancellation": "MembershipCancellation",
    "Pause": "MembershipPause",
    # The body that asks for one; only staff send it.
    "MembershipPause": "MembershipPauseRequest",
    "FieldType": "FormFieldType",
    "Operator": "ConditionalOperator",
    "Endpoint": "WebhookEndpoint",
    "EndpointCreate": "WebhookEndpointCreate",
    "EndpointUpdate": "WebhookEndpointUpdate",
    "EndpointWithSecret": "WebhookEndpointWithSecret",
    "RotateSecret": "WebhookSecretRotate",
    "Recover": "WebhookRecover",
    "Recovery": "WebhookRecovery",
    "Delivery": "WebhookDelivery",
    "Attempt": "WebhookAttempt",
    "EventRead": "Event",
    "EventPage": "EventList",
    "EventTypeRead": "EventType",
    "EventTypeTable": "EventTypes",
    "EventObject": "EventData",
    "ErrorBody": "Error",
    "ValidationErrorBody": "ValidationError",
    "Problem": "ValidationProblem",
}


def public_name(name: str) -> str:
    return RENAMED.get(name, name)
