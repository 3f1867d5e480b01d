"""npm packages that a check needs: fetched on request, stored in the virtual environment, never in the
repository. If they cannot be installed, the reason is one line.
"""

import fcntl
import json
import shutil
import subprocess
import sys
import time
from collections.abc import Iterable
from functools import cached_property
from pathlib import Path

TYPESCRIPT = "typescript@5.9.3"
# Otherwise every worker of a test run would wait for a registry that one has found to be unavailable.
ASK_AGAIN_SECONDS = 600
NPM_TIMEOUTS = ["--fetch-retries=1", "--fetch-timeout=20000", "--fetch-retry-mintimeout=1000"]
QUIETLY = ["--no-audit", "--no-fund", "--ignore-scripts"]
INSTALL = ["npm", "install", "--no-save", "--no-package-lock", *QUIETLY]


class NpmPackages:
    """A set of packages with their versions, in its own folder."""

    def __init__(self, name: str, packages: Iterable[str], root: Path = Path(sys.prefix)) -> None:
        self.folder = root / name
        self._packages = sorted(packages)

    def why_not(self) -> str | None:
        """The reason why they cannot be had here; None when they are there."""
        return self._reason

    def script(self, path: str) -> Path:
        return self.folder / "node_modules" / path

    @cached_property
    def _reason(self) -> str | None:
        if not (shutil.which("npm") and shutil.which("node")):
            return "node and npm are not here"
        self.folder.mkdir(parents=True, exist_ok=True)
        with (self.folder / "lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            mark, failed = self.folder / "installed.json", self.folder / "failed"
            if mark.exists() and json.loads(mark.read_text()) == self._packages:
                return None
            if failed.exists() and time.time() - failed.stat().st_mtime < ASK_AGAIN_SECONDS:
                return failed.read_text()
            self._prepare()
            if reason := self._install():
                failed.write_text(reason)
                return reason
            mark.write_text(json.dumps(self._packages))
        return None

    def _prepare(self) -> None:
        (self.folder / "package.json").write_text('{"private": true, "type": "module"}')

    def _command(self) -> list[str]:
        return [*INSTALL, *self._packages]

    def _install(self) -> str | None:
        command = [*self._command(), *NPM_TIMEOUTS]
        try:
            done = subprocess.run(
                command, cwd=self.folder, capture_output=True, text=True, timeout=90, check=False
            )
        except subprocess.TimeoutExpired:
            return "npm did not answer in time"
        if done.returncode:
            said = [line for line in done.stderr.splitlines() if line.startswith("npm error")]
            return f"npm cannot fetch them: {' '.join(said[:1]) or 'it does not say why'}"
        return None


class LockedNpmPackages(NpmPackages):
    """What a package.json and its package-lock.json name, hashes checked. The lock has no registry's address:
    it was made with `npm install --package-lock-only --omit-lockfile-registry-resolved`.
    """

    def __init__(self, name: str, source: Path, root: Path = Path(sys.prefix)) -> None:
        self._source = source
        super().__init__(name, [(source / "package-lock.json").read_text()], root)

    def _prepare(self) -> None:
        for name in ("package.json", "package-lock.json"):
            (self.folder / name).write_text((self._source / name).read_text())

    def _command(self) -> list[str]:
        return ["npm", "ci", *QUIETLY]
