"""Checks commits out into worktrees, each with a Python that has the packages it pins."""

import shutil
import subprocess
import sys
import venv
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from bench.problem import BenchProblem
from bench.working_tree import HERE, ROOT, WorkingTree

LOCK = Path("deploy/requirements.lock")


@contextmanager
def checked_out(revision: str, folder: Path, name: str = "old") -> Iterator[WorkingTree]:
    """Leaves this working tree alone; removes the new worktree afterwards."""
    path = folder / name
    git("worktree", "add", "--detach", "--quiet", str(path), commit_of(revision))
    try:
        yield WorkingTree(path, python_for(path, folder))
    finally:
        git("worktree", "remove", "--force", str(path))


@contextmanager
def this_tree(folder: Path) -> Iterator[WorkingTree]:
    """A checkout of HEAD, safe from edits during the run; with uncommitted changes, the tree itself."""
    if has_changes():
        yield WorkingTree(HERE.path, python_for(HERE.path, folder))
    else:
        with checked_out("HEAD", folder, "new") as tree:
            yield tree


def has_changes() -> bool:
    return bool(git("status", "--porcelain", "--untracked-files=no"))


def python_for(path: Path, folder: Path) -> str:
    """A virtual environment with just the packages that the commit pins.

    Both sides get one: in the environment of the developers a service loads more and needs more memory.
    """
    print(f"Installing the packages of the {path.name} side …", file=sys.stderr, flush=True)
    uv = shutil.which("uv") or shutil.which("uv", path=str(Path(sys.executable).parent))
    place = folder / f"venv-{path.name}"
    python = str(place / "bin" / "python")
    packages = ["--quiet", "--require-hashes", "-r", str(path / LOCK)]
    if uv:
        venv.create(place)
        if _succeeds([uv, "pip", "install", "--python", python, *packages]):
            return python
    # Also where uv is installed but does not work, as in the Makefile.
    venv.create(place, with_pip=True, clear=True)
    if not _succeeds([python, "-m", "pip", "install", *packages]):
        raise BenchProblem(f"The packages of the {path.name} side could not be installed.")
    return python


def _succeeds(words: Sequence[str]) -> bool:
    return subprocess.run(words, check=False).returncode == 0


def git(*words: str) -> str:
    done = subprocess.run(["git", "-C", str(ROOT), *words], capture_output=True, text=True)
    if done.returncode != 0:
        raise BenchProblem(f"git {' '.join(words)} failed: {done.stderr.strip() or 'no such commit'}")
    return done.stdout.strip()


def commit_of(revision: str) -> str:
    return git("rev-parse", "--verify", "--quiet", f"{revision}^{{commit}}")


def described(revision: str) -> str:
    return git("log", "-1", "--format=%h %s", commit_of(revision))


def described_tree() -> str:
    return described("HEAD") + (", with changes that are not committed" if has_changes() else "")
