"""`python -m services.cli.settings_table --write | --check`: the table in docs/operating/install.md."""

import sys
from pathlib import Path
from typing import Any, Final

from shared.settings import settings_read

GUIDE: Final = Path(__file__).resolve().parents[2] / "docs" / "operating" / "install.md"
START: Final = "<!-- settings:start -->\n"
END: Final = "<!-- settings:end -->"


def table() -> str:
    rows = [f"| `{one.variable}` | {_shown(one.default)} | {one.description} |" for one in settings_read()]
    return "\n".join(["| | default | |", "|---|---|---|", *rows]) + "\n"


def _shown(default: Any) -> str:
    if isinstance(default, bool):
        return str(default).lower()
    if isinstance(default, tuple):
        return ", ".join(map(_shown, default))
    if isinstance(default, float):
        return f"{default:g}"
    return str(default) if default else ""


def with_table(text: str) -> str:
    before, _, rest = text.partition(START)
    return before + START + table() + END + rest.partition(END)[2]


def main(arguments: list[str], guide: Path = GUIDE) -> int:
    made = with_table(guide.read_text())
    if arguments == ["--write"]:
        guide.write_text(made)
    elif made != guide.read_text():
        print(f"{guide.name} is stale: run `python -m services.cli.settings_table --write`.", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
