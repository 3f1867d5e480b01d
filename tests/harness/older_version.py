"""An older version: a commit of this repository in its own worktree, run with the current libraries."""

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.harness.process import ROOT


@contextmanager
def older_code(commit: str, folder: Path) -> Iterator[Path]:
    if _git("cat-file", "-e", f"{commit}^{{commit}}").returncode != 0:
        pytest.skip(
            f"commit {commit} is not in this clone: it is shallow, or no clone (git fetch --unshallow)"
        )
    added = _git("worktree", "add", "--detach", str(folder), commit)
    assert added.returncode == 0, added.stderr
    try:
        yield folder
    finally:
        _git("worktree", "remove", "--force", str(folder))


def _git(*words: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(["git", *words], cwd=ROOT, capture_output=True, text=True, check=False)
