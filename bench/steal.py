"""How much of the machine's time went to others: on a shared host that explains slow and uneven rounds."""

from pathlib import Path

# Of the line `cpu`: user, nice, system, idle, iowait, irq, softirq, steal.
STEAL, COLUMNS = 7, 8


class Steal:
    """Counts from its creation on."""

    def __init__(self, source: Path = Path("/proc/stat")) -> None:
        self._source = source
        self._before = self._ticks()

    def text(self) -> str:
        """Empty where the system does not tell."""
        spent: list[int] = [now - before for now, before in zip(self._ticks(), self._before, strict=False)]
        if len(spent) < COLUMNS or not any(spent):
            return ""
        return f"{spent[STEAL] / sum(spent):.0%}"

    def _ticks(self) -> list[int]:
        try:
            first = self._source.read_text().partition("\n")[0].split()
        except OSError:
            return []
        return [int(column) for column in first[1 : COLUMNS + 1]]
