"""What counts as an email address, in every service. Nothing is looked up on the network."""

import contextlib
from collections.abc import Iterable

from email_validator import EmailNotValidError, validate_email


def normalize_email(text: str) -> str:
    """Trimmed, lower-cased, domain in ASCII; no dot or plus tricks. Raises a readable ValueError."""
    try:
        # Without the test environment `a@test` would be refused for its name; the dot rule below is ours.
        checked = validate_email(text.strip(), check_deliverability=False, test_environment=True)
    except EmailNotValidError as problem:
        raise ValueError(str(problem)) from None
    if "." not in checked.ascii_domain:
        raise ValueError("The part after the @-sign is not valid. It should have a period.")
    return f"{checked.local_part}@{checked.ascii_domain}".lower()


def normalized_emails(texts: Iterable[str]) -> set[str]:
    """The texts that are emails, normalized."""
    found: set[str] = set()
    for text in texts:
        with contextlib.suppress(ValueError):
            found.add(normalize_email(text))
    return found
