"""Short time slices: on a busy processor, what has little to do should not wait behind what has much.

Each request passes a thread of the server that looks a few times for more work before it sleeps, and each
look gives a time slice away. On a full processor, with the kernel's slices of 3 ms, the next request waited
10 to 20 ms for that thread (bench/README.md).
"""

import contextlib
import ctypes
import os
import platform
import struct
from typing import Final

SLICE_NANOSECONDS: Final = 100_000
# The number of the system call `sched_setattr`. Kernels before 6.12 take it and ignore the slice.
_CALLS: Final = {"x86_64": 314, "aarch64": 274}
# size, policy (the ordinary one), flags, nice, priority, slice, deadline, period
_ATTRIBUTES: Final = struct.Struct("=IIQiIQQQ")


def take_short_slices() -> None:
    """For this thread and those that it starts later. Elsewhere than on Linux nothing happens."""
    call = _CALLS.get(platform.machine()) if platform.system() == "Linux" else None
    if call is None or os.sched_getscheduler(0) != os.SCHED_OTHER:
        return
    nice = os.getpriority(os.PRIO_PROCESS, 0)
    attributes = _ATTRIBUTES.pack(_ATTRIBUTES.size, 0, 0, nice, 0, SLICE_NANOSECONDS, 0, 0)
    # A sandbox may not allow the call: then it is as it was.
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL(None).syscall(call, 0, attributes, 0)
