"""The country of each time zone, as the time zone database itself lists it."""

import zoneinfo
from importlib import resources
from pathlib import Path

TABLE = "zone.tab"


def read_regions() -> dict[str, str]:
    """Empty where the machine has no such table: then phone numbers need their country code."""
    text = _table() or ""
    rows = [line.split("\t") for line in text.splitlines() if line and not line.startswith("#")]
    return {row[2]: row[0] for row in rows if len(row) > 2}


def _table() -> str | None:
    for folder in zoneinfo.TZPATH:
        path = Path(folder) / TABLE
        if path.is_file():
            return path.read_text(encoding="utf-8")
    try:
        return (resources.files("tzdata.zoneinfo") / TABLE).read_text(encoding="utf-8")
    except (ModuleNotFoundError, FileNotFoundError):
        return None
