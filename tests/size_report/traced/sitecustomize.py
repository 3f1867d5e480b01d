"""Imported by Python itself when it starts: notes when each function of the product runs, and saves it.

A coroutine that continues after an `await` counts as running again, as a call does.
"""

import atexit
import json
import os
import sys
import threading
import time
from collections import defaultdict
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

TREE = os.environ["SIZE_REPORT_TREE"]
FOLDERS = (f"{TREE}/services/", f"{TREE}/shared/")
times: dict[CodeType, list[float]] = defaultdict(list)
ignored: set[CodeType] = set()


def note(frame: FrameType, event: str, _: Any) -> None:
    code = frame.f_code
    if event != "call" or code in ignored:
        return
    if code.co_filename.startswith(FOLDERS) and code.co_name != "<module>":
        times[code].append(time.monotonic())
    else:
        ignored.add(code)


def save() -> None:
    sys.setprofile(None)
    rows = [[code.co_filename.removeprefix(f"{TREE}/"), at] for code, at in list(times.items())]
    Path(os.environ["SIZE_REPORT_CALLS"], f"{os.getpid()}.json").write_text(json.dumps(rows))


threading.setprofile(note)
sys.setprofile(note)
atexit.register(save)
