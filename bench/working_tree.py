"""A checkout of the project and the Python that runs it. We only use its `studioctl` and settings."""

import os
import sys
import tomllib
from collections.abc import Mapping
from pathlib import Path

from msgspec import Struct

ROOT = Path(__file__).resolve().parent.parent


class WorkingTree(Struct, frozen=True):
    path: Path
    python: str

    @property
    def studioctl(self) -> list[str]:
        """Runs what the installed script would run, in whichever module this commit has it."""
        scripts = tomllib.loads((self.path / "pyproject.toml").read_text())["project"]["scripts"]
        module, _, function = scripts["studioctl"].partition(":")
        return [
            self.python,
            "-P",
            "-c",
            f"import sys; from {module} import {function} as run; sys.exit(run())",
        ]

    def environment(self, settings: Mapping[str, str]) -> dict[str, str]:
        """`PYTHONPATH` comes before installed packages, so this tree's modules run from any folder.

        Modules are compiled once, as for everybody, even where the machine says otherwise.
        """
        other = ("STUDIO_", "PYTHONDONTWRITEBYTECODE")
        kept = {name: value for name, value in os.environ.items() if not name.startswith(other)}
        return {**kept, "PYTHONPATH": str(self.path), **{k: v for k, v in settings.items() if v}}


HERE = WorkingTree(ROOT, sys.executable)
