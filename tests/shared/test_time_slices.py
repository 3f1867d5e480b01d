"""What the kernel says of a process that has asked for short time slices."""

import platform
import subprocess
import sys

import pytest

PROGRAM = """
import ctypes, struct, sys, threading
from shared.time_slices import take_short_slices

def shown():
    buffer = ctypes.create_string_buffer(56)
    call = {"x86_64": 315, "aarch64": 275}[sys.argv[1]]
    assert ctypes.CDLL(None).syscall(call, 0, buffer, 56, 0) == 0
    print(struct.unpack_from("=IIQiIQ", buffer)[-1])

take_short_slices()
shown()
thread = threading.Thread(target=shown)
thread.start()
thread.join()
"""


@pytest.mark.skipif(
    platform.system() != "Linux" or tuple(map(int, platform.release().split(".")[:2])) < (6, 12),
    reason="kernels before 6.12 have one length for all",
)
def test_threads_that_start_later_have_short_slices_too() -> None:
    """The server starts its own threads, and an embedded Postgres its processes."""
    words = [sys.executable, "-c", PROGRAM, platform.machine()]
    shown = subprocess.run(words, capture_output=True, text=True, check=True).stdout.split()
    assert shown == ["100000", "100000"]
