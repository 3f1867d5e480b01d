"""A form's settings: validation when written, and the limits they put on submissions."""

from datetime import datetime
from urllib.parse import urlsplit

from services.forms.errors import FormClosed
from services.forms.wire.forms import FormSettings
from shared.errors import Problem


def check_settings(settings: FormSettings) -> list[Problem]:
    problems = []
    if settings.redirect_url is not None and not _is_https(settings.redirect_url):
        problems.append(_at("redirect_url", "A redirect goes to an https address."))
    return problems


def limits_submissions(settings: FormSettings) -> bool:
    """Such a form takes one submission at a time: two at once could both pass the limit check."""
    return settings.max_submissions is not None or bool(settings.one_submission_per_email)


def require_open(settings: FormSettings, now: datetime) -> None:
    if settings.closes_at is not None and now >= settings.closes_at:
        raise FormClosed(settings.closes_at)


def _is_https(url: str) -> bool:
    try:
        parts = urlsplit(url)
        return parts.scheme == "https" and bool(parts.hostname) and not any(c.isspace() for c in url)
    except ValueError:
        return False


def _at(name: str, msg: str) -> Problem:
    return Problem(("body", "settings", name), msg, "value_error")
