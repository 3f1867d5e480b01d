"""Valid class times: within the years that every part of the system can represent."""

from datetime import datetime

from shared.errors import Problem
from shared.http.body_problems import EARLIEST, LATEST


def problem_with_times(start: datetime, end: datetime) -> str | None:
    if not EARLIEST <= start < LATEST or not EARLIEST <= end < LATEST:
        return "A class must lie between the years 1970 and 3000."
    if end <= start:
        return "A class must end after it starts."
    return None


def clamp_to_supported_years(moment: datetime) -> datetime:
    """For filters: no class lies outside, and the driver cannot represent every timestamp that JSON can."""
    return min(max(moment, EARLIEST), LATEST)


def time_problems(start: datetime, end: datetime) -> list[Problem]:
    problem = problem_with_times(start, end)
    return [Problem(("body", "end_time"), problem, "value_error")] if problem else []
