"""The wheel as a partner gets it: built from the sources, installed into an environment of its own."""

import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

from tests.harness.process import ROOT

PACKAGE = ROOT / "clients/python"
SECONDS = 120


class NotHere(Exception):
    """Why it cannot be installed."""


def run(
    *words: str | Path, folder: Path, environment: Mapping[str, str] | None = None
) -> "subprocess.CompletedProcess[str]":
    # Nothing of this checkout may be found by accident.
    clean = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "VIRTUAL_ENV")}
    given = clean | dict(environment or {})
    return subprocess.run(words, cwd=folder, env=given, capture_output=True, text=True, timeout=SECONDS)


def build(folder: Path) -> Path:
    """The wheel."""
    source = folder / "source"
    shutil.copytree(PACKAGE, source, ignore=shutil.ignore_patterns("__pycache__", "dist"))
    done = run(sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", folder, folder=source)
    assert done.returncode == 0, done.stderr
    [wheel] = folder.glob("*.whl")
    return wheel


def install(folder: Path) -> Path:
    """The Python of a new environment with the wheel and what it depends on."""
    wheel = build(folder)
    uv = Path(sys.executable).with_name("uv")
    environment = folder / "environment"
    made = run(uv, "venv", "-q", "--python", sys.executable, environment, folder=folder)
    assert made.returncode == 0, made.stderr
    python = environment / "bin/python"
    done = run(uv, "pip", "install", "-q", "--python", python, wheel, folder=folder)
    if done.returncode:
        raise NotHere(f"its dependencies cannot be installed: {done.stderr.strip().splitlines()[-1]}")
    return python
