"""Child processes of a run. They are stopped however the run ends."""

import os
import signal
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path

from bench.cores import starting_on
from bench.problem import BenchProblem
from bench.working_tree import ROOT as ROOT

START_SECONDS = 60.0


class Process:
    def __init__(
        self,
        words: Sequence[str],
        *,
        log: Path,
        cores: Collection[int],
        environment: Mapping[str, str] | None = None,
        folder: Path = ROOT,
    ) -> None:
        self.words = list(words)
        self.log = log
        self.began = time.perf_counter()
        with log.open("ab") as sink, starting_on(cores):
            self._child = subprocess.Popen(
                self.words,
                env=dict(environment) if environment is not None else None,
                stdin=subprocess.DEVNULL,
                stdout=sink,
                stderr=sink,
                cwd=folder,
                start_new_session=True,  # Ctrl-C must reach only us: we stop them in order
            )
        self.pid = self._child.pid

    def wait_ready(self, url: str) -> float:
        """Seconds from the start until `url` answered successfully."""
        deadline = time.monotonic() + START_SECONDS
        while time.monotonic() < deadline:
            if self._child.poll() is not None:
                break
            try:
                with urllib.request.urlopen(url, timeout=2):
                    return time.perf_counter() - self.began
            except urllib.error.HTTPError as response:
                if response.code not in (502, 503):
                    return time.perf_counter() - self.began
            except OSError:
                pass
            time.sleep(0.01)
        raise BenchProblem(f"{' '.join(self.words)} did not get ready:\n{self.log.read_text()[-2000:]}")

    def ask_to_stop(self) -> None:
        if self._child.poll() is None:
            self._child.send_signal(signal.SIGTERM)

    def stop(self) -> None:
        self.ask_to_stop()
        try:
            self._child.wait(20)
        except subprocess.TimeoutExpired:
            os.killpg(self._child.pid, signal.SIGKILL)
            self._child.wait()
