"""What no schema can tell schemathesis: which phone numbers and hosts can exist, and NUL in free JSON."""

from typing import Any

import schemathesis

from services.webhooks.rules.urls import UrlPolicy, url_problem
from shared.phones import phone_problems

PHONE = "+44 20 7946 0018"
URL = "https://hooks.example.com/studio"


def without_nul(value: Any) -> Any:
    """Free JSON has no schema in which to forbid it at any depth."""
    if isinstance(value, dict):
        return {without_nul(name): without_nul(part) for name, part in value.items()}
    if isinstance(value, list):
        return [without_nul(part) for part in value]
    return value.replace("\x00", "") if isinstance(value, str) else value


@schemathesis.hook
def before_call(context: Any, case: Any, kwargs: dict[str, Any]) -> None:
    """Valid data gets a number and a host that can exist, and loses NUL; invalid data stays as it is."""
    if isinstance(case.body, dict) and case.meta is not None and case.meta.generation.mode.is_positive:
        case.body = without_nul(case.body)
        if phone_problems(case.body.get("phone"), None):
            case.body["phone"] = PHONE
        if "url" in case.body and url_problem(case.body["url"], UrlPolicy()):
            case.body["url"] = URL
