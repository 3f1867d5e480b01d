"""How long the log keeps events. It is cut into weeks, which begin on Monday in UTC."""

from datetime import datetime, timedelta

KEPT = timedelta(days=30)
WEEK = timedelta(days=7)
# An event that is created later than this was written by a broken clock.
MAX_CLOCK_SKEW = timedelta(days=1)


def start_of_week(moment: datetime) -> datetime:
    midnight = moment.replace(hour=0, minute=0, second=0, microsecond=0)
    return midnight - timedelta(days=moment.weekday())


def oldest_kept(at: datetime) -> datetime:
    """The start of the oldest week of which anything is kept."""
    return start_of_week(at - KEPT)
